package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast/examples/payments/demo"
	"github.com/holdfastjobs/holdfast/examples/payments/provider"
	"github.com/holdfastjobs/holdfast/examples/payments/telemetry/sink"
	"github.com/holdfastjobs/holdfast/internal/servers"
)

// chargedOnce is what every good run of n payments shows, whatever it ran on.
func chargedOnce(t *testing.T, n int, args ...string) demo.Outcome {
	t.Helper()
	book := filepath.Join(t.TempDir(), "book.jsonl")
	s := start(t, append(args, "-in", payments(t, n), "-book", book, "-json")...)
	if code := s.code(t); code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", code, &s.out, &s.err)
	}
	o := s.outcome(t)
	if o.Unique != n || o.ChargedOnce != n || o.ChargedTwice != 0 || o.Lost != 0 || o.UnbalancedAccounts != 0 {
		t.Errorf("wrong: %+v", o)
	}
	again, elsewhere := int64(n*15/100), int64(n*5/100)
	// A completion that too few nodes confirmed in time is delivered once more, and
	// skipped too.
	if o.Submitted != int64(n)+again+elsewhere || o.DuplicatesRefused != again || o.DuplicatesSkipped < elsewhere {
		t.Errorf("duplicates: %+v", o)
	}
	if o.Restarts != 1 || o.ProviderCalls < int64(n) {
		t.Errorf("%d restarts, %d calls of the provider", o.Restarts, o.ProviderCalls)
	}
	charges := count(t, book)
	for id, times := range charges {
		if times != 1 {
			t.Errorf("the book has %d charges of %s", times, id)
		}
	}
	if len(charges) != n {
		t.Errorf("the book has %d payments, want %d", len(charges), n)
	}
	return o
}

// count reads a book again, without the code that wrote it.
func count(t *testing.T, path string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	charges := make(map[string]int)
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var c provider.Charge
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		charges[c.ID]++
	}
	return charges
}

func TestEveryPaymentIsChargedOnceOnEmbeddedNodes(t *testing.T) {
	t.Parallel()
	if o := chargedOnce(t, 120); o.Contended == 0 {
		t.Error("no payment met another")
	}
}

func TestEveryPaymentIsChargedOnceOnRealRedisAndPostgreSQL(t *testing.T) {
	t.Parallel()
	nodes := servers.RedisNodes(t, 4)
	dsn := servers.Postgres(t)
	locks := nodes[1].URL() + ",b=" + nodes[2].URL() + "," + nodes[3].URL()
	// The second run has the first one's payments, and must not take them for
	// duplicates.
	for _, n := range []int{120, 20} {
		chargedOnce(t, n, "-redis", nodes[0].URL(), "-locks", locks, "-db", dsn)
	}
	for _, node := range nodes {
		options, err := redis.ParseURL(node.URL())
		if err != nil {
			t.Fatal(err)
		}
		client := redis.NewClient(options)
		if keys, err := client.Keys(t.Context(), "*").Result(); err != nil || len(keys) > 0 {
			t.Errorf("left on %s: %.200q, %v", node.Addr(), keys, err)
		}
		client.Close()
	}
}

// The control: what the runs above show is the lock's doing.
func TestWithoutLocksMoneyIsLost(t *testing.T) {
	t.Parallel()
	const n = 120
	s := start(t, "-in", payments(t, n), "-json", "-unsafe")
	code, o := s.code(t), s.outcome(t)
	if code != 1 || o.ChargedTwice+o.UnbalancedAccounts == 0 {
		t.Errorf("exit code %d, %+v", code, o)
	}
	if o.Unique != n || o.Restarts != 1 || o.DuplicatesSkipped != 0 || o.Contended != 0 {
		t.Errorf("more differs than locks and records: %+v", o)
	}
}

func TestTracesAndMetricsOfAllProcessesReachTheCollector(t *testing.T) {
	t.Parallel()
	collector, err := sink.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(collector.Close)
	s := start(t, "-in", payments(t, 20), "-otlp", collector.Endpoint)
	if code := s.code(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, &s.err)
	}
	for _, want := range [][2]string{
		{"payments-producer", "send payments"},
		{"payments-producer", "messaging.client.sent.messages"},
		{"payments", "process payments"},
		{"payments", "acquire lock payments.charge"},
		{"payments", "release lock"},
		{"payments", "messaging.process.duration"},
		{"payments", "holdfast.lock.wait.duration"},
		{"payments", "holdfast.job.duplicates"},
	} {
		if !collector.Saw(want[0], want[1]) {
			t.Errorf("%s did not send %q; seen: %v", want[0], want[1], collector.Names())
		}
	}
}
