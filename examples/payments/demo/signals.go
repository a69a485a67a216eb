package demo

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// signalled is why a run ends early.
type signalled struct{ signal os.Signal }

func (s signalled) Error() string { return s.signal.String() }

// untilSignal returns a context that a signal to end cancels, with [signalled]
// as its cause. stop gives the signals back.
func untilSignal() (ctx context.Context, stop func()) {
	signal.Ignore(syscall.SIGPIPE) // output that nobody reads is an error, not the end
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		select {
		case s := <-signals:
			cancel(signalled{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// failure is the exit code of a run that did not get to its audit: that of a
// shell's command when a signal ended it.
func failure(ctx context.Context) int {
	if why, ok := errors.AsType[signalled](context.Cause(ctx)); ok {
		if number, ok := why.signal.(syscall.Signal); ok {
			return exitSignal + int(number)
		}
	}
	return exitWrong
}
