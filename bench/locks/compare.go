package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/holdfastjobs/holdfast/bench/internal/contender"
	"github.com/holdfastjobs/holdfast/bench/internal/measure"
	"github.com/holdfastjobs/holdfast/bench/internal/nodes"
)

// compare plays every lock on n fresh nodes, and first says on what, if asked.
func compare(ctx context.Context, plan measure.Plan, n int, w io.Writer, describe bool) (figures []measure.Figures, err error) {
	set, err := nodes.Start(n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	if describe {
		version, err := set.Version(ctx)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(w, "%d cores for them and all nodes, %s/%s, %s, Redis %s\n",
			runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), version)
		contestants(w)
	}
	locks, err := contender.All(ctx, set.Addrs)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, contender.Close(locks)) }()
	return measure.Run(ctx, plan, n, locks)
}

// contestants prints what versions this program was built of.
func contestants(w io.Writer) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	for _, module := range info.Deps {
		if slices.Contains([]string{
			"github.com/go-redsync/redsync/v4", "github.com/bsm/redislock",
			"github.com/redis/rueidis", "github.com/redis/go-redis/v9",
		}, module.Path) {
			fmt.Fprintf(w, "%s %s\n", module.Path, module.Version)
		}
	}
}

// silence plays the quorum locks on three nodes of which one does not answer:
// its connections stay open, and the system accepts new ones for it.
func silence(ctx context.Context, o options, w io.Writer) (err error) {
	set, err := nodes.Start(3)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	locks, err := contender.Make(ctx, set.Addrs, contender.Redlock, contender.Redsync, contender.RedsyncFailFast)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, contender.Close(locks)) }()
	if err := measure.Warm(ctx, o.plan, locks); err != nil {
		return err
	}
	if err := set.Servers[2].Pause(); err != nil {
		return err
	}
	// Deferred last, it runs first: a lock that is closed tells its nodes.
	defer func() { err = errors.Join(err, set.Servers[2].Resume()) }()
	// The pause is longer than redsync asks a silent node for.
	plan := measure.Plan{Goroutines: o.plan.Goroutines, Rounds: 3, Round: o.silent, Pause: 300 * time.Millisecond}
	figures, err := measure.Run(ctx, plan, 3, locks)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\none of three nodes accepts and never answers; median of %d rounds of %v, max of all\n", plan.Rounds, plan.Round)
	return measure.Table(w, figures, measure.Base)
}
