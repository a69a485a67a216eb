package lock

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
)

// Option sets what one handler's lock does differently. A value out of range
// panics at registration.
type Option func(*settings)

type settings struct {
	ttl       time.Duration
	retention time.Duration
	inPlace   time.Duration
	maxWait   time.Duration
	maxHold   time.Duration
	stall     time.Duration
	healthy   func(ctx context.Context) error
	backoff   retry.Policy
	noQuorum  retry.Policy
	also      []resources
}

// resources names what jobs of one type touch, besides themselves.
type resources struct {
	args  reflect.Type
	names func(args any) []string
}

func defaults() settings {
	return settings{
		backoff:  retry.Wait(),
		noQuorum: retry.Jitter(retry.Exponential(time.Second, 15*time.Second), 0.5),
	}
}

// Also locks resources together with the job: names such as "account/a1", up to
// 15 in all, each under the key r/<name>. Jobs of any kind that name the same
// resource run one at a time. A is the handler's own type, or an interface that
// it implements; any other panics at registration. In front of handlers of every
// kind, such as with worker.Use, there is no type to look at then: a job of
// another type is archived with that reason, so give Also to the handlers that it
// is for. Under worker.Adapt, A is *asynq.Task. A job is archived, too, when its names are too many, or not of 1 to 510
// bytes of UTF-8 without control characters.
func Also[A any](names func(A) []string) Option {
	if names == nil {
		panic("lock: Also takes a function, and got nil")
	}
	also := resources{
		args:  reflect.TypeFor[A](),
		names: func(args any) []string { return names(args.(A)) },
	}
	return func(s *settings) { s.also = append(s.also, also) }
}

// TTL is how long the lock outlives its holder's last sign of life: the time
// until a job whose worker died may run again. 0 is the locker's own, 5 s by
// default; the locker's range holds.
func TTL(d time.Duration) Option {
	d = between("TTL", d, 0, math.MaxInt64)
	return func(s *settings) { s.ttl = d }
}

// Retention is how long the completion record refuses duplicates after the job
// is done: 1 s to 10 years of 365 days. 0 is the locker's own, 24 h by default.
func Retention(d time.Duration) Option {
	if d != 0 {
		d = between("Retention", d, time.Second, 3650*24*time.Hour)
	}
	return func(s *settings) { s.retention = d }
}

// InPlace lets a contended job wait in its worker slot for up to d, woken by the
// holder's release, before it goes back to the retry set. 260 ms is three tries
// more, after 10, 50 and 200 ms. At most 5 s, since the time that the queue gives
// a delivery runs meanwhile. 0, the default, is none: the slot is free for other
// work at once.
func InPlace(d time.Duration) Option {
	d = between("InPlace", d, 0, 5*time.Second)
	return func(s *settings) { s.inPlace = d }
}

// Backoff is when a contended job comes again, by how often it met contention
// since it last held the lock. The default is [retry.Wait]: 1, 2, 4 s … to 1 min,
// each ±50 %. The queue counts in whole seconds, rounded up.
func Backoff(p retry.Policy) Option {
	p = given("Backoff", p)
	return func(s *settings) { s.backoff = p }
}

// NoQuorumBackoff is when a job comes again after fewer than a majority of lock
// nodes answered. Its attempt number grows with the outage, as one job's would
// that has tried since it began. The default is 1, 2, 4 s … to 15 s, each ±50 %.
func NoQuorumBackoff(p retry.Policy) Option {
	p = given("NoQuorumBackoff", p)
	return func(s *settings) { s.noQuorum = p }
}

// MaxWait archives a job, with [ErrWaitedTooLong], that meets contention more
// than d after it first did. 0, the default, is never. The lock nodes remember
// when that was for the locker's WaiterTTL, 5 min by default, after each try: with
// a Backoff that pauses for longer, raise it.
func MaxWait(d time.Duration) Option {
	d = between("MaxWait", d, 0, math.MaxInt64)
	return func(s *settings) { s.maxWait = d }
}

func between(field string, d, least, most time.Duration) time.Duration {
	if d >= least && d <= most {
		return d
	}
	want := fmt.Sprintf("%v or more", least)
	if most < math.MaxInt64 {
		want = fmt.Sprintf("%v to %v", least, most)
	}
	panic((&holdfast.FieldError{Room: "lock", Field: field, Value: d, Want: want}).Error())
}

func given(field string, p retry.Policy) retry.Policy {
	if p == nil {
		panic("lock: " + field + ": nil is not accepted: want a retry.Policy")
	}
	return p
}
