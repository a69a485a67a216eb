// The payments example charges payments through a fleet of worker processes and
// then audits the payment provider's book and the ledger:
//
//	go run ./examples/payments
//
// What you would write yourself is in charge.go, the job and its method, and in
// wiring.go. The rest plays the world around them: a provider that fails, a
// fleet that is restarted, producers that send twice.
package main

import (
	_ "embed"
	"log/slog"
	"os"

	"github.com/redis/go-redis/v9/logging"
	"go.opentelemetry.io/otel"

	"github.com/holdfastjobs/holdfast/examples/payments/demo"
	"github.com/holdfastjobs/holdfast/examples/payments/fleet"
)

//go:embed testdata/payments.jsonl
var sample []byte

var program = demo.Program{Sample: sample, SampleName: "testdata/payments.jsonl", Connect: connect}

func main() {
	// Standard error is for the progress. That jobs fail, are tried again and meet
	// each other is what the example provokes, and its outcome counts it.
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	logging.Disable() // go-redis's own
	// What a collector missed is said once, at the end.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))

	if fleet.IsWorker() {
		os.Exit(fleet.Serve(serve))
	}
	os.Exit(demo.Main(program, os.Args[1:], demo.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
