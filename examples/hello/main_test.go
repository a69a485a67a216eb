package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The test binary is the program when it is called by the test.
func TestMain(m *testing.M) {
	if os.Getenv("HELLO") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestOneWorkerChargesAndTheOtherSkips(t *testing.T) {
	t.Parallel()
	hello := exec.CommandContext(t.Context(), os.Args[0])
	hello.Env = append(os.Environ(), "HELLO=1")
	out, err := hello.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	charged := regexp.MustCompile(`(east|west) charges ch_1 under token (\d+)`).FindAllSubmatch(out, -1)
	skipped := regexp.MustCompile(`duplicate skipped kind=charge job_id=ch_1 queue=(east|west) token=(\d+)`).FindAllSubmatch(out, -1)
	if len(charged) != 1 || len(skipped) != 1 {
		t.Fatalf("charged %d times and skipped %d times, want once each:\n%s", len(charged), len(skipped), out)
	}
	if winner, loser := string(charged[0][1]), string(skipped[0][1]); winner == loser {
		t.Errorf("%s both charged and skipped", winner)
	}
	if a, b := string(charged[0][2]), string(skipped[0][2]); a != b {
		t.Errorf("charged under token %s, and the record has %s", a, b)
	}
}

func TestTheProgramFitsOnAPage(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(source)) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines > 30 {
		t.Errorf("%d non-blank lines, want at most 30", lines)
	}
}
