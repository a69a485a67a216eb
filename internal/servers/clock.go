package servers

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

//go:embed preload/clock.c
var clockSource string

var errNoClock = errors.New("servers: shift the clock: the server has that of the machine: start it with StartRedisWithClock")

// clock is a server's own wall clock: a library that is loaded into the server
// before libc, and the file from which it reads how far to go ahead.
type clock struct {
	library string
	offset  string
}

// newClock compiles the library in dir, which the server has anyway: there is
// nothing to share, to lock and to remove.
func newClock(dir string) (*clock, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("servers: a server's clock can be shifted on Linux only")
	}
	gcc, err := compiler.find()
	if err != nil {
		return nil, err
	}
	c := &clock{library: filepath.Join(dir, "clock.so"), offset: filepath.Join(dir, "clock")}
	cmd := exec.Command(gcc, "-shared", "-fPIC", "-Wall", "-Werror", "-x", "c", "-o", c.library, "-")
	cmd.Stdin = strings.NewReader(clockSource)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("servers: compile the clock: %w\n%s", err, out)
	}
	if err := c.shift(0); err != nil {
		return nil, err
	}
	return c, nil
}

// env is what makes a program run by this clock.
func (c *clock) env() []string {
	return []string{"LD_PRELOAD=" + c.library, "HOLDFAST_CLOCK=" + c.offset}
}

// shift writes into the file that the server has mapped, and never truncates it:
// a mapped page without a file behind it kills who reads it.
func (c *clock) shift(d time.Duration) error {
	f, err := os.OpenFile(c.offset, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("servers: shift the clock: %w", err)
	}
	defer f.Close()
	if _, err := f.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(d)), 0); err != nil {
		return fmt.Errorf("servers: shift the clock: %w", err)
	}
	return nil
}
