package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast/examples/payments/provider"
	"github.com/holdfastjobs/holdfast/internal/servers"
)

const inTest = 120 // payments

// chargedOnce is what every good run shows, whatever it ran on.
func chargedOnce(t *testing.T, args ...string) {
	t.Helper()
	book := filepath.Join(t.TempDir(), "book.jsonl")
	s := start(t, append(args, "-in", payments(t, inTest), "-book", book, "-json")...)
	if code := s.code(t); code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", code, &s.out, &s.err)
	}
	o := s.outcome(t)
	if o.Unique != inTest || o.ChargedOnce != inTest || o.ChargedTwice != 0 || o.Lost != 0 || o.UnbalancedAccounts != 0 {
		t.Errorf("wrong: %+v", o)
	}
	// 18 come again through the second producer, and 6 through the second queue.
	// A completion that too few nodes confirmed in time is delivered once more, and
	// skipped too.
	if o.Submitted != inTest+18+6 || o.DuplicatesRefused != 18 || o.DuplicatesSkipped < 6 {
		t.Errorf("duplicates: %+v", o)
	}
	if o.Contended == 0 || o.Restarts != 1 || o.ProviderCalls < inTest {
		t.Errorf("nothing happened that could go wrong: %+v", o)
	}
	for id, n := range count(t, book) {
		if n != 1 {
			t.Errorf("the book has %d charges of %s", n, id)
		}
	}
	if n := len(count(t, book)); n != inTest {
		t.Errorf("the book has %d payments, want %d", n, inTest)
	}
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
	chargedOnce(t)
}

func TestEveryPaymentIsChargedOnceOnRealRedisAndPostgreSQL(t *testing.T) {
	t.Parallel()
	nodes := servers.RedisNodes(t, 4)
	dsn := servers.Postgres(t)
	locks := nodes[1].URL() + ",b=" + nodes[2].URL() + "," + nodes[3].URL()
	// Twice, for a second run must not take the first one's for duplicates.
	for range 2 {
		chargedOnce(t, "-redis", nodes[0].URL(), "-locks", locks, "-db", dsn)
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
	s := start(t, "-in", payments(t, inTest), "-json", "-unsafe")
	code, o := s.code(t), s.outcome(t)
	if code != 1 || o.ChargedTwice+o.UnbalancedAccounts == 0 {
		t.Errorf("exit code %d, %+v", code, o)
	}
	if o.Unique != inTest || o.Restarts != 1 || o.DuplicatesSkipped != 0 || o.Contended != 0 {
		t.Errorf("more differs than locks and records: %+v", o)
	}
}
