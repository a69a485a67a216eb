package main

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/holdfasttest"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/queue"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
	"github.com/holdfastjobs/holdfast/worker/workertest"
)

// The test binary is the program when it is called by the test.
func TestMain(m *testing.M) {
	if os.Getenv("HELLO") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestOneWorkerChargesAndTheOtherSkips(t *testing.T) {
	t.Parallel()
	hello := exec.CommandContext(t.Context(), os.Args[0])
	hello.Env = append(os.Environ(), "HELLO=1")
	out, err := hello.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	charged := regexp.MustCompile(`(east|west) charges ch_1 under token (\d+)`).FindAllSubmatch(out, -1)
	skipped := regexp.MustCompile(`duplicate skipped kind=charge job_id=ch_1 queue=(east|west) token=(\d+)`).FindAllSubmatch(out, -1)
	if len(charged) != 1 || len(skipped) != 1 {
		t.Fatalf("charged %d times and skipped %d times, want once each:\n%s", len(charged), len(skipped), out)
	}
	if winner, loser := string(charged[0][1]), string(skipped[0][1]); winner == loser {
		t.Errorf("%s both charged and skipped", winner)
	}
	if a, b := string(charged[0][2]), string(skipped[0][2]); a != b {
		t.Errorf("charged under token %s, and the record has %s", a, b)
	}
}

// The same on a fleet of the test's own: the ID of a Charge is its idempotency key, in
// whichever queue it is.
func TestAChargeInTwoQueuesRunsOnce(t *testing.T) {
	t.Parallel()
	fleet := holdfasttest.Start(t)
	var runs atomic.Int32
	fleet.Work(worker.Config{Queues: map[string]int{"east": 1, "west": 1}}, func(w *worker.Worker) {
		worker.Handle(w, func(ctx context.Context, _ Charge) error {
			runs.Add(1)
			return holdfast.SetResult(ctx, holdfast.Token(ctx))
		}, lock.Middleware(fleet.Locker))
	})
	fleet.Enqueue(Charge{"ch_1"}, queue.On("east"))
	fleet.Enqueue(Charge{"ch_1"}, queue.On("west"))
	fleet.Enqueue(Charge{"ch_2"}, queue.On("west"))
	first, second := fleet.Result("charge", "ch_1"), fleet.Result("charge", "ch_2")
	if runs.Load() != 2 || first.Token == second.Token {
		t.Errorf("%d runs, records %+v and %+v", runs.Load(), first, second)
	}
}

func TestAChargeRunsUnderTheTokenItAsksFor(t *testing.T) {
	t.Parallel()
	lock := workertest.Lock{Token: 8}
	report := workertest.Run(t.Context(), workertest.NewJob(Charge{"ch_1"}), func(ctx context.Context, _ Charge) error {
		return holdfast.SetResult(ctx, holdfast.Token(ctx))
	}, lock.Middleware)
	report.Want(t, retry.KindDone)
	report.WantToken(t)
	if string(report.Result) != "8" {
		t.Errorf("ran under token %s", report.Result)
	}
}

func TestTheProgramFitsOnAPage(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(source)) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines > 30 {
		t.Errorf("%d non-blank lines, want at most 30", lines)
	}
}
