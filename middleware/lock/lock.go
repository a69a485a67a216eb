package lock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
)

// Middleware puts the lock around a handler. One locker serves all handlers of a
// process. Put it outermost: what stands before it runs without the lock.
func Middleware(locker *redlock.Locker, opts ...Option) holdfast.Middleware {
	if locker == nil {
		panic("lock: Middleware takes a locker, and got nil")
	}
	s := defaults()
	for _, set := range opts {
		set(&s)
	}
	if err := locker.Accepts(redlock.Claim{Keys: []string{"j/any/job"}, TTL: s.ttl}); err != nil {
		panic("lock: Middleware: " + err.Error())
	}
	return func(route holdfast.Route, next holdfast.Handler) holdfast.Handler {
		if _, twice := next.(*guard); twice {
			panic(fmt.Sprintf("lock: two lock middlewares around kind %q: each would wait for the other", route.Kind))
		}
		for _, also := range s.also {
			if route.Args != nil && !route.Args.AssignableTo(also.args) {
				panic(fmt.Sprintf("lock: Also takes %v, but the handler of kind %q takes %v", also.args, route.Kind, route.Args))
			}
		}
		return &guard{settings: s, locker: locker, next: next, count: newCounters(locker.Telemetry())}
	}
}

// guard is the lock around one handler.
type guard struct {
	settings
	locker *redlock.Locker
	next   holdfast.Handler
	outage outage
	count  counters
}

// Handle runs one delivery: acquire, run, settle.
func (g *guard) Handle(ctx context.Context, job *holdfast.Job) error {
	claim, err := g.claim(job)
	if err != nil {
		return retry.Never(err)
	}
	lease, err := g.acquire(ctx, job, claim)
	if err != nil {
		return g.refused(ctx, job, err)
	}
	g.quorum(ctx)
	return g.hold(ctx, job, lease)
}

// claim turns a job into keys: its own first, then its resources.
func (g *guard) claim(job *holdfast.Job) (redlock.Claim, error) {
	keys := []string{g.key(job)}
	for _, also := range g.also {
		if job.Args == nil || !reflect.TypeOf(job.Args).AssignableTo(also.args) {
			return redlock.Claim{}, fmt.Errorf("lock: Also takes %v, but this delivery of kind %q carries %T", also.args, job.Kind, job.Args)
		}
		for _, name := range also.names(job.Args) {
			if name == "" || len(name) > maxName {
				return redlock.Claim{}, &holdfast.FieldError{Room: "lock", Field: "Also", Value: name, Want: "names of 1 to 510 bytes"}
			}
			if key := "r/" + name; !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	claim := redlock.Claim{
		Keys: keys, Name: job.Kind, TTL: g.ttl, Waiter: waiter(job),
		MaxHold: g.maxHold, Stall: g.stall, Healthy: g.healthy,
	}
	if !job.Foreign {
		claim.Record = job.Key()
	}
	return claim, nil
}

// key is the job's own. Another producer's ID may be anything; one that cannot
// stand in a key is told from others by its hash.
func (g *guard) key(job *holdfast.Job) string {
	if job.Foreign && g.locker.Accepts(redlock.Key(job.Key())) != nil {
		sum := sha256.Sum256([]byte(job.ID))
		return holdfast.JobKey(job.Kind, hex.EncodeToString(sum[:]))
	}
	return job.Key()
}

// maxName leaves room for r/ in a key of 512 bytes.
const maxName = 510

// waiter is the identity under which the lock nodes count a job's contention:
// the same for each delivery of one queue entry, and no other's.
func waiter(job *holdfast.Job) string {
	sum := sha256.Sum256([]byte(job.Queue + "\x00" + job.Kind + "\x00" + job.ID))
	return hex.EncodeToString(sum[:12])
}
