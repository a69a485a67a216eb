package lock_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
)

type refund struct{ Account string }

func (refund) AccountName() string { return "" }

func TestMistakesPanicAtRegistration(t *testing.T) {
	t.Parallel()
	l := idle(t)
	route := holdfast.Route{Kind: "charge", Args: reflect.TypeFor[charge]()}
	for want, register := range map[string]func(){
		"Also takes lock_test.refund, but the handler of kind \"charge\" takes lock_test.charge": func() {
			lock.Middleware(l, lock.Also(func(refund) []string { return nil }))(route, &handler{})
		},
		"two lock middlewares around kind \"charge\"": func() {
			locked := lock.Middleware(l, lock.InPlace(5*time.Second))
			locked(route, locked(route, &handler{}))
		},
		"Middleware takes a locker":                                 func() { lock.Middleware(nil) },
		"Also takes a function":                                     func() { lock.Also[charge](nil) },
		"TTL: 50ms is not accepted":                                 func() { lock.Middleware(l, lock.TTL(50*time.Millisecond)) },
		"TTL: 11s is not accepted":                                  func() { lock.Middleware(l, lock.TTL(11*time.Second)) },
		"TTL: -1ns is not accepted":                                 func() { lock.TTL(-1) },
		"Retention: 1ms":                                            func() { lock.Retention(time.Millisecond) },
		"Retention: 100000h0m0s is not accepted: want 1s to 87600h": func() { lock.Retention(100000 * time.Hour) },
		"InPlace: 6s is not accepted: want 0s to 5s":                func() { lock.InPlace(6 * time.Second) },
		"InPlace: -1s":                                              func() { lock.InPlace(-time.Second) },
		"Healthy takes a function":                                  func() { lock.Healthy(nil) },
		"Stall: 1ms is not accepted: want 10ms or more":             func() { lock.Stall(time.Millisecond) },
		"Stall: -1s":                                                func() { lock.Stall(-time.Second) },
		"MaxHold: -1s":                                              func() { lock.MaxHold(-time.Second) },
		"MaxWait: -1s":                                              func() { lock.MaxWait(-time.Second) },
		"Backoff: nil is not":                                       func() { lock.Backoff(nil) },
		"NoQuorumBackoff: nil is not":                               func() { lock.NoQuorumBackoff(nil) },
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, want) {
					t.Errorf("panic %q, want one that says %q", said, want)
				}
			}()
			register()
		}()
	}
}

func TestAlsoTakesAnInterfaceThatTheHandlersTypeImplements(t *testing.T) {
	t.Parallel()
	route := holdfast.Route{Kind: "refund", Args: reflect.TypeFor[refund]()}
	lock.Middleware(idle(t), lock.Also(func(interface{ AccountName() string }) []string { return nil }))(route, &handler{})
}

// idle is a locker that nobody asks anything.
func idle(t *testing.T) *redlock.Locker {
	t.Helper()
	l, err := redlock.New(redlock.Config{Nodes: redlock.URLs("redis://127.0.0.1:1")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// With another middleware between them, only a delivery can tell.
func TestTwoLocksAroundOneHandlerArchiveTheJob(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		l := n.locker(t)
		between := func(_ holdfast.Route, next holdfast.Handler) holdfast.Handler {
			return holdfast.HandlerFunc(next.Handle)
		}
		route := holdfast.Route{Kind: "charge", Args: reflect.TypeFor[charge]()}
		locked := lock.Middleware(l, lock.InPlace(5*time.Second))
		twice := locked(route, between(route, locked(route, &handler{})))
		want(t, deliver(t, twice, delivery("ch_1", "a1")), retry.KindNever, redlock.ErrNested)
	})
}
