package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryLockPlaysOnEveryNumberOfNodesItCan(t *testing.T) {
	file := filepath.Join(t.TempDir(), "figures.json")
	var out bytes.Buffer
	args := []string{"-nodes=1,3", "-goroutines=8", "-rounds=1", "-round=300ms", "-warmup=100ms", "-silent=300ms", "-json=" + file}
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range rows {
		got = append(got, fmt.Sprintf("%s on %v", row["lock"], row["nodes"]))
		for _, field := range []string{"cycles_per_s", "p50_ms", "p99_ms", "ratio_to_redsync"} {
			if value, ok := row[field].(float64); !ok || value <= 0 {
				t.Errorf("%v: %s is %v, want a positive number", row["lock"], field, row[field])
			}
		}
	}
	want := []string{
		"redlock on 1", "redlock+record on 1", "redlock+2keys on 1", "redsync on 1", "redislock on 1", "rueidislock on 1",
		"redlock on 3", "redlock+record on 3", "redlock+2keys on 3", "redsync on 3", "redsync+failfast on 3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, after, ok := strings.Cut(out.String(), "never answers"); !ok || strings.Count(after, "\n3 ")+strings.Count(after, " 3 ") < 3 {
		t.Errorf("no table of three locks with a silent node in\n%s", &out)
	}
}

func TestABadFlagIsAnError(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"-nodes=one", "-rounds=0", "-goroutines=0", "-round=0s", "-unknown"} {
		if _, err := parse([]string{arg}); err == nil {
			t.Errorf("%s was accepted", arg)
		}
	}
}
