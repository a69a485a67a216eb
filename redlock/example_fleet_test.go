package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfastjobs/holdfast/embedded"
	"github.com/holdfastjobs/holdfast/redlock"
)

func ExampleLocker_Check() {
	locker, stop := start()
	defer stop()

	report, err := locker.Check(context.Background())
	if err != nil {
		panic(err) // what must not be: a node that evicts, one that is listed twice, …
	}
	for _, node := range report.Nodes { // fmt.Print(report) is a table for people
		fmt.Println(node.Joined, node.Ungated, node.Quarantine)
	}
	fmt.Println(len(report.Warnings) > 0)
	// Output:
	// true true 0s
	// true true 0s
	// true true 0s
	// true
}

func ExampleReconfigure() {
	fleet, err := embedded.Start(3)
	if err != nil {
		panic(err)
	}
	defer fleet.Close()
	ctx := context.Background()
	before := redlock.Config{Nodes: redlock.URLs(fleet.Locks()...), MaxTTL: 500 * time.Millisecond, NodeTimeout: 200 * time.Millisecond, Ungated: true}
	after := before
	after.MaxTTL = time.Second

	process, err := redlock.New(before)
	if err != nil {
		panic(err)
	}
	defer process.Close()
	fmt.Println(process.Ready(ctx))

	fmt.Println(redlock.Reconfigure(ctx, after)) // takes as long as an old lock may live
	fmt.Println(redlock.Reconfigure(ctx, after)) // nothing left to do

	err = process.Ready(ctx)
	fmt.Println(errors.Is(err, redlock.ErrConfig))
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// true
}
