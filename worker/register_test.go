package worker_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/worker"
)

func TestBadConfigNamesFieldValueAndRange(t *testing.T) {
	redis := asynq.RedisClientOpt{Addr: "127.0.0.1:1"}
	for want, cfg := range map[string]worker.Config{
		`worker: Redis: <nil> is not accepted: want the queue's Redis, such as asynq.RedisClientOpt`: {},
		`worker: Queues: " " is not accepted: want a name`:                                           {Redis: redis, Queues: map[string]int{" ": 1}},
		`worker: Queues["a"]: 0 is not accepted: want a weight of at least 1`:                        {Redis: redis, Queues: map[string]int{"a": 0}},
		`worker: Concurrency: -1 is not accepted: want at least 1`:                                   {Redis: redis, Concurrency: -1},
		`worker: Soft: 10s is not accepted: want 1ms to 5s`:                                          {Redis: redis, Drain: 5 * time.Second, Soft: 10 * time.Second},
		`worker: UnknownFor: -1ns is not accepted: want 1s to 720h0m0s`:                              {Redis: redis, UnknownFor: -1},
		`worker: TaskCheckInterval: 1ns is not accepted: want 1ms to 1m0s`:                           {Redis: redis, TaskCheckInterval: 1},
	} {
		_, err := worker.New(cfg)
		if field, ok := errors.AsType[*holdfast.FieldError](err); !ok || field.Room != "worker" || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

type (
	nameless struct{ charge }
	shouting struct{ charge }
	onHeap   struct{ name string }
)

func (nameless) Kind() string  { return "" }
func (shouting) Kind() string  { return "Payments.Charge" }
func (o *onHeap) Kind() string { return "on.heap" + o.name } // a nil *onHeap would panic
func (*onHeap) JobID() string  { return "" }

func TestRegistrationMistakesPanicInASentence(t *testing.T) {
	w, err := worker.New(worker.Config{Redis: asynq.RedisClientOpt{Addr: "127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	worker.Handle(w, func(context.Context, charge) error { return nil })
	worker.Handle(w, func(context.Context, *onHeap) error { return nil })
	for want, mistake := range map[string]func(){
		"Handle payments.charge was called before": func() { worker.Handle(w, func(context.Context, *charge) error { return nil }) },
		"1 to 64 of [a-z0-9._-]":                   func() { worker.Handle(w, func(context.Context, nameless) error { return nil }) },
		`"Payments.Charge"`:                        func() { worker.Handle(w, func(context.Context, shouting) error { return nil }) },
		"Handle needs a function of a concrete type, and holdfast.Args is an interface": func() { worker.Handle(w, func(context.Context, holdfast.Args) error { return nil }) },
		"Handle for worker_test.chargeV2 got a nil function":                            func() { worker.Handle[chargeV2](w, nil) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "worker: Handle") || !strings.Contains(got, want) {
					t.Errorf("panic: %s, want %s", got, want)
				}
			}()
			mistake()
		}()
	}
}

func TestANilMiddlewarePanicsAtItsRegistration(t *testing.T) {
	w, err := worker.New(worker.Config{Redis: asynq.RedisClientOpt{Addr: "127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	fine := func(_ holdfast.Route, next holdfast.Handler) holdfast.Handler { return next }
	for want, mistake := range map[string]func(){
		"worker: Use: middleware 2 is nil": func() { w.Use(fine, nil) },
		`holdfast: middleware 2 around kind "payments.charge" is nil`: func() {
			worker.Handle(w, func(context.Context, charge) error { return nil }, fine, nil)
		},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != want {
					t.Errorf("panic: %s, want %s", got, want)
				}
			}()
			mistake()
		}()
	}
}

func TestRegistrationEndsWithRun(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		w := b.worker(b.config())
		running := make(chan struct{})
		worker.Handle(w, func(context.Context, charge) error { close(running); return nil })
		b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
		b.start(w)
		<-running
		for _, late := range []func(){
			func() { worker.Handle(w, func(context.Context, chargeV2) error { return nil }) },
			func() { w.Use() },
		} {
			func() {
				defer func() {
					if got := fmt.Sprint(recover()); !strings.Contains(got, "must come before Run") {
						t.Error(got)
					}
				}()
				late()
			}()
		}
	})
}

func TestMiddlewaresAreBuiltOnceAndRunFromOutsideIn(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		var built []holdfast.Route
		order := make(chan string, 20)
		say := func(name string) holdfast.Middleware {
			return func(route holdfast.Route, next holdfast.Handler) holdfast.Handler {
				built = append(built, route)
				return holdfast.HandlerFunc(func(ctx context.Context, job *holdfast.Job) error {
					if _, decoded := job.Args.(charge); !decoded {
						t.Errorf("%s sees Args %v", name, job.Args)
					}
					order <- name
					return next.Handle(ctx, job)
				})
			}
		}
		w := b.worker(b.config())
		w.Use(say("outermost"), say("outer"))
		worker.Handle(w, func(context.Context, charge) error { order <- "handler"; return nil }, say("inner"), say("innermost"))
		w.Use(say("last outer"))
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
		b.start(w)
		b.until(id, asynq.TaskStateCompleted)
		close(order)
		var got []string
		for name := range order {
			got = append(got, name)
		}
		if want := []string{"outermost", "outer", "last outer", "inner", "innermost", "handler"}; !slices.Equal(got, want) {
			t.Error(got)
		}
		own := holdfast.Route{Kind: "payments.charge", Args: reflect.TypeFor[charge]()}
		if want := []holdfast.Route{{}, {}, own, own, {}}; !slices.Equal(built, want) {
			t.Error(built)
		}
	})
}
