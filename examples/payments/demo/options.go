// Package demo is the machinery around the example: its flags, the servers it
// starts when none are given, the traffic, the fleet of worker processes, and
// the audit that says whether any payment was charged twice or never. Nothing of
// it is needed to use Holdfast.
package demo

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/holdfastjobs/holdfast/examples/payments/input"
	"github.com/holdfastjobs/holdfast/examples/payments/ledger"
	"github.com/holdfastjobs/holdfast/examples/payments/telemetry"
)

// Options are the flags.
type Options struct {
	In, Book             string
	Redis, DB, OTLP      string
	Locks                []string
	Workers, Concurrency int
	Rate                 float64
	Seed                 uint64
	JSON, Unsafe         bool
}

// parse reads the flags. Asked for help it prints that to w and returns
// [flag.ErrHelp].
func parse(args []string, w io.Writer) (Options, error) {
	var o Options
	var locks string
	f := flag.NewFlagSet("payments", flag.ContinueOnError)
	f.SetOutput(io.Discard) // forty lines of help would bury what is wrong
	f.StringVar(&o.In, "in", "", "`FILE` of payments, JSON Lines or CSV with a header, - is standard input;\n"+input.Fields+"\n(default the 640 payments of testdata/payments.jsonl, which are built in)")
	f.StringVar(&o.Book, "book", "", "`FILE` for the provider's book, one JSON object a line per applied charge;\nthe book of an earlier run is overwritten, any other file is refused\n(default none)")
	f.StringVar(&o.Redis, "redis", "", "`URL` of the queue's Redis\n(default an embedded one)")
	f.StringVar(&locks, "locks", "", "`URL,URL,URL` of 1, 3, 5 or 7 lock nodes, independent Redis primaries\n(default three embedded ones)")
	f.StringVar(&o.DB, "db", "", "`DSN` of the ledger: the path of an SQLite file, or postgres://…; the ledger\nstays there, and the next run starts it afresh\n(default SQLite in a temporary folder)")
	f.IntVar(&o.Workers, "workers", 3, "worker processes, 1 to 32")
	f.IntVar(&o.Concurrency, "concurrency", 6, "jobs at a time in each of them, 1 to 256")
	f.Float64Var(&o.Rate, "rate", 100, "payments a second that come in; 0 is as fast as the queue takes them")
	f.StringVar(&o.OTLP, "otlp", "", "`HOST:PORT` of an OpenTelemetry collector, OTLP over gRPC, such as\nlocalhost:4317 (default none)")
	f.Uint64Var(&o.Seed, "seed", 0, "chooses the provider's faults and the duplicates; 0 draws one\nand prints it (default 0)")
	f.BoolVar(&o.JSON, "json", false, "print the outcome as one JSON object, as the last line (default false)")
	f.BoolVar(&o.Unsafe, "unsafe", false, "")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		usage(f, w)
		return o, err
	} else if err != nil {
		return o, fmt.Errorf("%w; run with -h for the flags", err)
	}
	if locks != "" {
		o.Locks = strings.Split(locks, ",")
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64N(1 << 32)
	}
	return o, o.check(f.Args())
}

func (o Options) check(rest []string) error {
	switch n := len(o.Locks); {
	case len(rest) > 0:
		return fmt.Errorf("%q is no flag; run with -h for the flags", rest[0])
	case o.Workers < 1 || o.Workers > 32:
		return fmt.Errorf("-workers: %d is not 1 to 32", o.Workers)
	case o.Concurrency < 1 || o.Concurrency > 256:
		return fmt.Errorf("-concurrency: %d is not 1 to 256", o.Concurrency)
	case !(o.Rate >= 0 && o.Rate <= 1e6):
		return fmt.Errorf("-rate: %v is not 0 to 1000000", o.Rate)
	case n > 0 && (n%2 == 0 || n > 7):
		return fmt.Errorf("-locks: %d URLs are not 1, 3, 5 or 7", n)
	}
	return o.checkPlaces()
}

// checkPlaces is about the form of what says where something is.
func (o Options) checkPlaces() error {
	if o.Redis != "" {
		if _, err := queueRedis(o.Redis); err != nil {
			return err
		}
	}
	if _, err := lockNodes(o.Locks); err != nil {
		return err
	}
	if err := ledger.Check(o.DB); err != nil {
		return fmt.Errorf("-db: %w", err)
	}
	if err := telemetry.CheckEndpoint(o.OTLP); err != nil {
		return fmt.Errorf("-otlp: %w", err)
	}
	return nil
}

// pause is the time between two payments that come in.
func (o Options) pause() time.Duration {
	if o.Rate == 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / o.Rate)
}

// usage is flag's own text without the flag that breaks the example on purpose.
func usage(f *flag.FlagSet, w io.Writer) {
	fmt.Fprintf(w, "Charges payments through a fleet of worker processes, with duplicates, a restart\nand a provider that fails, and audits the provider's book and the ledger.\n\nUsage: go run ./examples/payments [flags]\n\n")
	shown := flag.NewFlagSet(f.Name(), flag.ContinueOnError)
	shown.SetOutput(w)
	f.VisitAll(func(g *flag.Flag) {
		if g.Name != "unsafe" {
			shown.Var(g.Value, g.Name, g.Usage)
			shown.Lookup(g.Name).DefValue = g.DefValue
		}
	})
	shown.PrintDefaults()
	fmt.Fprintf(w, "\nExit code: 0 when every payment was charged once and every balance is right,\n1 when not or when something is down, 2 for bad input or a bad flag, and 128 plus\nthe number of the signal that ended the run.\n")
}
