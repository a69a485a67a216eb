package lock_test

import (
	"context"
	"errors"
	"flag"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/embedded"
	"github.com/holdfastjobs/holdfast/internal/servers"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if isChild() {
		beChild()
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("8") // tests wait for TTLs more than they compute
	}
	goleak.VerifyTestMain(m)
}

// nodes are three lock nodes, of either make.
type nodes struct {
	embedded *embedded.Fleet // nil for real ones

	urls  []string
	stop  func(i int)
	start func(i int)
}

// onEachKind runs one test on embedded nodes and on real ones.
func onEachKind(t *testing.T, test func(t *testing.T, n nodes)) {
	t.Helper()
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		fleet, err := embedded.Start(3)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = fleet.Close() })
		test(t, nodes{embedded: fleet, urls: fleet.Locks(), stop: fleet.StopNode, start: func(i int) {
			if err := fleet.RestartNode(i); err != nil {
				t.Error(err)
			}
		}})
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		processes := servers.RedisNodes(t, 3)
		urls := make([]string, len(processes))
		for i, r := range processes {
			urls[i] = r.URL()
		}
		test(t, nodes{urls: urls, stop: func(i int) { processes[i].Kill() }, start: func(i int) {
			if err := processes[i].Start(); err != nil {
				t.Error(err)
			}
		}})
	})
}

// config is short-lived enough to wait for, and what all lockers of a test share.
func (n nodes) config() redlock.Config {
	return redlock.Config{Nodes: redlock.URLs(n.urls...), TTL: time.Second, MaxTTL: time.Second, NodeTimeout: 200 * time.Millisecond, Ungated: true}
}

// locker is one process of a fleet, with a TTL that tests can wait for.
func (n nodes) locker(t *testing.T) *redlock.Locker {
	t.Helper()
	l, err := redlock.New(n.config())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Ready(t.Context()); err != nil { // real nodes are new
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// hold takes keys, as a handler elsewhere would, and returns their release.
func hold(t *testing.T, l *redlock.Locker, keys ...string) func() {
	t.Helper()
	lease, err := l.Acquire(t.Context(), redlock.Key(keys...))
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if outcome, err := lease.Release(context.Background()); err != nil {
			t.Errorf("release: %v, %v", outcome, err)
		}
	}
}

type charge struct{ ID, Account string }

func (charge) Kind() string    { return "charge" }
func (c charge) JobID() string { return c.ID }

// handler counts its runs and does what the test says.
type handler struct {
	runs atomic.Int32
	do   func(ctx context.Context) error
}

func (h *handler) Handle(ctx context.Context, _ *holdfast.Job) error {
	h.runs.Add(1)
	if h.do == nil {
		return nil
	}
	return h.do(ctx)
}

// guarded puts the lock around h, as the worker does for a handler of charge. It
// is patient where nothing else is said: a machine that is too busy for the nodes'
// timeout has no quorum for a moment, and its own clean-up is contention then.
func guarded(l *redlock.Locker, h *handler, opts ...lock.Option) holdfast.Handler {
	exact := lock.Backoff(retry.Exponential(time.Second, time.Minute))
	route := holdfast.Route{Kind: "charge", Args: reflect.TypeFor[charge]()}
	return lock.Middleware(l, append([]lock.Option{exact, lock.InPlace(5 * time.Second)}, opts...)...)(route, h)
}

// impatient is for tests of contention and of the quorum.
var impatient = lock.InPlace(0)

// delivery is what the worker makes of a message.
func delivery(id, account string) *holdfast.Job {
	return &holdfast.Job{
		Kind: "charge", ID: id, Queue: "payments", Args: charge{id, account},
		Hash: holdfast.PayloadHash([]byte(id + account)), Attempt: 1, MaxAttempts: 1,
	}
}

// deliver hands over one delivery, and again when it met no quorum: nothing has
// run then.
func deliver(t *testing.T, h holdfast.Handler, job *holdfast.Job) error {
	t.Helper()
	for try := 1; ; try++ {
		if err := deliverOnce(t, h, job); try == 20 || !errors.Is(err, lock.ErrNoQuorum) {
			return err
		}
	}
}

// deliverOnce is deliver for tests of the quorum itself.
func deliverOnce(t *testing.T, h holdfast.Handler, job *holdfast.Job) error {
	t.Helper()
	return h.Handle(holdfast.WithJob(t.Context(), job), job)
}

// want checks verdict and reason; reason nil stands for no error.
func want(t *testing.T, err error, kind retry.Kind, reason error) {
	t.Helper()
	if got := retry.Of(err).Kind; got != kind || !errors.Is(err, reason) {
		t.Errorf("got %v, verdict %v; want verdict %v of %v", err, got, kind, reason)
	}
}

var errDeclined = errors.New("card declined")
