package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

const (
	startWithin = 30 * time.Second // far above what a start takes, also on a busy machine
	pollEvery   = 10 * time.Millisecond
	tryWithin   = time.Second // one connection attempt
	portTries   = 10
)

// ready calls try until it succeeds. It gives up, and ends the child, once
// startWithin is over; it gives up at once when the child ends by itself.
func (p *process) ready(try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := attempt(ctx, try)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-p.done:
			return p.failure()
		case <-ctx.Done():
			p.kill()
			return fmt.Errorf("not ready after %v: %w", startWithin, err)
		}
	}
}

func attempt(ctx context.Context, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, tryWithin)
	defer cancel()
	return try(ctx)
}

// onFreePort calls start with a free port, and with another one each time that
// start finds its port taken: between the look and the start anyone may come.
func onFreePort(start func(port int) error) error {
	err := errPortTaken
	for range portTries {
		if !errors.Is(err, errPortTaken) {
			break
		}
		var port int
		if port, err = freePort(); err == nil {
			err = start(port)
		}
	}
	return err
}

// freePort returns a loopback port that nothing listened on just now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("servers: find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
