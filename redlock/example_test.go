package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/embedded"
	"github.com/holdfastjobs/holdfast/redlock"
)

// start gives an example three lock nodes in this process. Yours are three Redis
// servers: redlock.URLs("redis://a:6379", "redis://b:6379", "redis://c:6379").
func start() (locker *redlock.Locker, stop func()) {
	fleet, err := embedded.Start(3)
	if err != nil {
		panic(err)
	}
	locker, err = redlock.New(redlock.Config{Nodes: redlock.URLs(fleet.Locks()...), NodeTimeout: 200 * time.Millisecond, Ungated: true})
	if err != nil {
		panic(err)
	}
	return locker, func() {
		_ = locker.Close()
		_ = fleet.Close()
	}
}

func ExampleLocker_Do() {
	locker, stop := start()
	defer stop()

	err := locker.Do(context.Background(), "report/daily", func(ctx context.Context) error {
		tenure, _ := holdfast.TenureFrom(ctx) // its token goes with every write
		fmt.Println("holding", tenure.Keys, "with a token:", tenure.Token > 0)
		return ctx.Err() // live while the lock is held
	})
	fmt.Println(err)
	// Output:
	// holding [report/daily] with a token: true
	// <nil>
}

func ExampleLocker_TryAcquire() {
	locker, stop := start()
	defer stop()
	ctx := context.Background()

	// Two accounts under one token: both or none, in any order, no deadlock.
	lease, err := locker.TryAcquire(ctx, redlock.Key("account/1", "account/2"))
	if err != nil {
		panic(err)
	}
	_, err = locker.TryAcquire(ctx, redlock.Key("account/2"))
	if held, ok := errors.AsType[*redlock.HeldError](err); ok {
		fmt.Println(held.Key, "is held; by us:", held.Token == lease.Token())
	}
	outcome, err := lease.Release(ctx)
	fmt.Println(outcome, err)
	// Output:
	// account/2 is held; by us: true
	// released <nil>
}

func ExampleLease_Finish() {
	locker, stop := start()
	defer stop()
	ctx := context.Background()

	claim := redlock.Claim{Keys: []string{"j/mail/42"}, Record: "j/mail/42"}
	lease, err := locker.Acquire(ctx, claim)
	if err != nil {
		panic(err)
	}
	// … send the mail, then say so, and release, in one step:
	err = lease.Finish(ctx, holdfast.Record{Result: []byte("sent")}, 24*time.Hour)
	fmt.Println(err)

	_, err = locker.Acquire(ctx, claim) // a duplicate, whenever it comes
	if done, ok := errors.AsType[*redlock.DoneError](err); ok {
		fmt.Printf("already %s\n", done.Record.Result)
	}
	// Output:
	// <nil>
	// already sent
}

func ExampleLease_Context() {
	locker, stop := start()
	defer stop()

	lease, err := locker.TryAcquire(context.Background(), redlock.Key("leader"))
	if err != nil {
		panic(err)
	}
	_ = locker.Close() // as a partition would, only sooner
	<-lease.Context().Done()
	cause := context.Cause(lease.Context())
	fmt.Println(errors.Is(cause, redlock.ErrLost), errors.Is(cause, redlock.ErrClosed))
	// Output: true true
}
