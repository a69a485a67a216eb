package demo

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/examples/payments/input"
)

// Program is what the demo drives.
type Program struct {
	// Sample is the input when none is given, and SampleName its name in reports.
	Sample     []byte
	SampleName string
	// Connect opens a producer.
	Connect func(Settings, holdfast.Telemetry) (Producer, error)
}

// Streams are standard input, output and error.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// The exit codes.
const (
	exitGood = iota
	exitWrong
	exitBadInput
)

// exitSignal plus its number is the exit code of a run that a signal ended.
const exitSignal = 128

// Main runs the example and returns its exit code. It ends early, and cleans up
// all the same, at SIGINT, SIGTERM, SIGHUP and SIGQUIT.
func Main(program Program, args []string, s Streams) int {
	began := time.Now()
	if _, isFile := s.Err.(*os.File); !isFile {
		s.Err = &oneAtATime{w: s.Err} // the worker processes write to it, too
	}
	o, err := parse(args, s.Out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitGood
	case err != nil:
		fmt.Fprintln(s.Err, "payments:", err)
		return exitBadInput
	}
	// Before the signals are taken over: a read of a terminal must end by Ctrl-C.
	payments, err := read(program, o, s.In)
	if lines, ok := errors.AsType[*input.BadLinesError](err); ok {
		fmt.Fprintln(s.Err, lines) // each with its own FILE:LINE
		return exitBadInput
	}
	if err != nil {
		fmt.Fprintln(s.Err, "payments: -in:", err)
		return exitBadInput
	}
	if err := checkBook(o, s.In); err != nil {
		fmt.Fprintln(s.Err, "payments:", err)
		return exitBadInput
	}
	ctx, stop := untilSignal()
	defer stop()
	outcome, err := run(ctx, program, o, payments, s.Err)
	if err != nil {
		fmt.Fprintln(s.Err, "payments:", err)
		return failure(ctx)
	}
	outcome.ElapsedS = float64(time.Since(began).Milliseconds()) / 1000
	outcome.writeFindings(s.Err)
	write := outcome.writeTable
	if o.JSON {
		write = outcome.writeJSON
	}
	if err := write(s.Out); err != nil || !outcome.good() {
		return exitWrong
	}
	return exitGood
}

func read(program Program, o Options, stdin io.Reader) ([]input.Payment, error) {
	switch o.In {
	case "":
		return input.Read(program.SampleName, bytes.NewReader(program.Sample))
	case "-":
		return input.Read("stdin", stdin)
	}
	file, err := os.Open(o.In)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return input.Read(o.In, file)
}

// oneAtATime is a writer that several goroutines may use.
type oneAtATime struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *oneAtATime) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}
