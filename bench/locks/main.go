// Command locks compares the locks of four libraries, with nodes that are well
// and with one that is silent. See the README beside it.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"github.com/holdfastjobs/holdfast/bench/internal/measure"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "locks:", err)
		os.Exit(1)
	}
}

type options struct {
	plan   measure.Plan
	nodes  []int
	silent time.Duration
	json   string
}

func parse(args []string) (options, error) {
	o := options{plan: measure.Plan{Pause: 20 * time.Millisecond}}
	var nodes string
	flags := flag.NewFlagSet("locks", flag.ContinueOnError)
	flags.StringVar(&nodes, "nodes", "1,3,5", "how many nodes, one after another")
	flags.IntVar(&o.plan.Goroutines, "goroutines", 50, "how many take locks at once")
	flags.IntVar(&o.plan.Rounds, "rounds", 5, "rounds of each lock, of which the median counts")
	flags.DurationVar(&o.plan.Round, "round", 1200*time.Millisecond, "how long a round takes")
	flags.DurationVar(&o.plan.WarmUp, "warmup", 500*time.Millisecond, "how long each lock warms up, uncounted")
	flags.DurationVar(&o.silent, "silent", time.Second, "how long a round with a silent node takes; 0 leaves that out")
	flags.StringVar(&o.json, "json", "", "a `file` to write the figures to as well")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	for text := range strings.SplitSeq(nodes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return o, fmt.Errorf("-nodes: %w", err)
		}
		o.nodes = append(o.nodes, n)
	}
	if o.plan.Goroutines < 1 || o.plan.Rounds < 1 || o.plan.Round <= 0 {
		return o, fmt.Errorf("-goroutines %d, -rounds %d, -round %v: want more than 0", o.plan.Goroutines, o.plan.Rounds, o.plan.Round)
	}
	return o, nil
}

func run(ctx context.Context, args []string, w io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	logging.Disable() // go-redis tells of every command that a silent node leaves open
	fmt.Fprintf(w, "%d goroutines, each cycle a key of its own; median of %d rounds of %v\n", o.plan.Goroutines, o.plan.Rounds, o.plan.Round)
	var all []measure.Figures
	for i, n := range o.nodes {
		figures, err := compare(ctx, o.plan, n, w, i == 0)
		if err != nil {
			return err
		}
		all = append(all, figures...)
	}
	if err := measure.Table(w, all, measure.Base, "rueidislock"); err != nil {
		return err
	}
	if o.silent > 0 {
		if err := silence(ctx, o, w); err != nil {
			return err
		}
	}
	if o.json == "" {
		return nil
	}
	var out bytes.Buffer
	if err := measure.JSON(&out, all); err != nil {
		return err
	}
	return os.WriteFile(o.json, out.Bytes(), 0o600)
}
