package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/holdfastjobs/holdfast/examples/payments/demo"
	"github.com/holdfastjobs/holdfast/examples/payments/fleet"
)

// asProgram makes the test binary the program, so that a test can send it
// signals; its worker processes are the test binary, too.
const asProgram = "PAYMENTS_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if fleet.IsWorker() || os.Getenv(asProgram) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// started is one start of the example, in a process of its own.
type started struct {
	*exec.Cmd
	out, err bytes.Buffer
	temp     string // its folder for temporary files
}

// start starts the example. Its standard error is a pipe that its worker
// processes inherit: Wait returns once all of them are gone.
func start(t *testing.T, args ...string) *started {
	t.Helper()
	s := &started{Cmd: exec.Command(os.Args[0], args...), temp: t.TempDir()}
	s.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+s.temp)
	s.Stdout, s.Stderr = &s.out, &s.err
	return s
}

// code runs the example to its end, and checks that nothing of it stays behind.
func (s *started) code(t *testing.T) int {
	t.Helper()
	if err := s.Run(); s.ProcessState == nil {
		t.Fatal(err)
	}
	s.nothingLeft(t)
	return s.ProcessState.ExitCode()
}

func (s *started) nothingLeft(t *testing.T) {
	t.Helper()
	if left, err := os.ReadDir(s.temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func (s *started) outcome(t *testing.T) demo.Outcome {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(s.out.String()), "\n")
	var o demo.Outcome
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &o); err != nil {
		t.Fatalf("%v\n%s\n%s", err, &s.out, &s.err)
	}
	return o
}

// payments writes n payments on a few accounts, of which the first is hot.
func payments(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,account,amount_cents,currency\n")
	for i := range n {
		account := i % 24
		if i%8 == 1 {
			account = 0
		}
		fmt.Fprintf(&b, "pay_%04d,acct_%d,%d,EUR\n", i, account, 100+i)
	}
	path := filepath.Join(t.TempDir(), "payments.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
