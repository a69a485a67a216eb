// Command leases holds many leases at once and says what that costs. It fails if
// one of them is lost, or if goroutines grow with them. See the README beside it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"github.com/holdfastjobs/holdfast/bench/internal/contender"
	"github.com/holdfastjobs/holdfast/bench/internal/nodes"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "leases:", err)
		os.Exit(1)
	}
}

type options struct {
	leases, nodes, ttls int
	ttl                 time.Duration
}

func run(ctx context.Context, args []string, w io.Writer) (err error) {
	var o options
	flags := flag.NewFlagSet("leases", flag.ContinueOnError)
	flags.IntVar(&o.leases, "leases", 20_000, "how many are held at once")
	flags.IntVar(&o.nodes, "nodes", 3, "how many nodes")
	flags.DurationVar(&o.ttl, "ttl", 5*time.Second, "of each lease")
	flags.IntVar(&o.ttls, "ttls", 5, "for how many TTLs they are held")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.leases < 1 || o.ttls < 1 {
		return fmt.Errorf("-leases %d, -ttls %d: want 1 or more", o.leases, o.ttls)
	}
	logging.Disable() // what go-redis would tell, the figures do
	set, err := nodes.Start(o.nodes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	version, err := set.Version(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d leases on %d nodes, TTL %v, held for %d TTLs; %d cores for this and all nodes, %s, Redis %s\n",
		o.leases, o.nodes, o.ttl, o.ttls, runtime.NumCPU(), runtime.Version(), version)
	locker, err := contender.NewLocker(ctx, set.Addrs, o.ttl)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, locker.Close()) }()
	f, err := hold(ctx, locker, set, o)
	if err != nil {
		return err
	}
	f.print(w, o.leases)
	return f.verdict()
}
