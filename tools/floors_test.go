package tools

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/holdfastjobs/holdfast"

// floors says what each room may import. It must not import any other room, and
// nothing else of outside.
var floors = map[string][]string{
	// floor 0
	".":     {"std", "otel"},
	"retry": {"std", "backoff"},
	// floor 1
	"redlock":  {"std", "otel", ".", "retry", "redis", "unix"},
	"fence":    {"std", "otel", ".", "retry", "sql"},
	"embedded": {"std", "miniredis", "redis"},
	// floor 2
	"middleware/lock":   {"std", "otel", ".", "retry", "redlock"},
	"worker":            {"std", "otel", ".", "retry", "asynq", "redis"},
	"queue":             {"std", "otel", ".", "retry", "asynq", "redis"},
	"outbox":            {"std", "otel", ".", "retry", "fence", "sql"},
	"worker/workertest": {"std", ".", "retry", "worker"},
	// the roof, for users' tests: all but the package testing itself
	"holdfasttest": {
		"std", "otel", "otel sdk", "exporters", ".", "retry", "redlock", "fence", "embedded", "middleware/lock", "worker", "worker/workertest",
		"queue", "outbox", "newroom", "asynq", "backoff", "miniredis", "pgx", "progress", "redis", "sql", "sqlite", "unix",
	},
	// a room that has no rule yet
	"newroom": {"std"},
}

// outside says what can be imported from elsewhere, heavy things included.
var outside = map[string][]string{
	"asynq":     {"github.com/hibiken/asynq"},
	"backoff":   {"github.com/cenkalti/backoff/v4"},
	"exporters": {"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"},
	"miniredis": {"github.com/alicebob/miniredis/v2", "github.com/alicebob/miniredis/v2/server"},
	"otel":      {"go.opentelemetry.io/otel", "go.opentelemetry.io/otel/trace"},
	"otel sdk":  {"go.opentelemetry.io/otel/sdk/metric", "go.opentelemetry.io/otel/sdk/trace"},
	"pgx":       {"github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/stdlib"},
	"progress":  {"github.com/schollz/progressbar/v3"},
	"redis":     {"github.com/redis/go-redis/v9", "github.com/redis/go-redis/v9/maintnotifications"},
	"sql":       {"database/sql", "database/sql/driver"},
	"sqlite":    {"modernc.org/sqlite"},
	"std":       {"context", "log/slog", "net/http"},
	"testing":   {"testing", "testing/synctest"},
	"unix":      {"golang.org/x/sys/unix"},
}

// TestTheLinterHoldsTheFloors builds a house of empty rooms, plants every import
// in each of them and in a subpackage of it, and expects the linter to refuse
// exactly those that floors leaves out.
func TestTheLinterHoldsTheFloors(t *testing.T) {
	t.Parallel()
	house := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", ".golangci.yml"} {
		write(t, filepath.Join(house, name), read(t, filepath.Join("..", name)))
	}

	var want []string
	plant := func(room, folder string, everything map[string][]string) {
		file := filepath.Join(folder, "planted.go")
		source := "package planted\n\n"
		for name, paths := range everything {
			for _, path := range paths {
				source += "import _ \"" + path + "\"\n"
				if !slices.Contains(floors[room], name) {
					want = append(want, file+" "+path)
				}
			}
		}
		write(t, filepath.Join(house, file), source)
	}
	for room := range floors {
		write(t, filepath.Join(house, room, "inner", "doc.go"), "package inner\n")
		plant(room, room, imports(room, "inner"))
		if room != "." {
			plant(room, filepath.Join(room, "planted"), imports(room, ""))
		}
	}

	got := refusals(t, house)
	for _, planted := range want {
		if !slices.Contains(got, planted) {
			t.Errorf("let through: %s", planted)
		}
	}
	for _, refused := range got {
		if !slices.Contains(want, refused) {
			t.Errorf("refused, though it is allowed: %s", refused)
		}
	}
}

// imports is everything that could be planted in room, by the name that floors
// has for it. Rooms that import each other in a circle do not load, so they
// import an inner package of each other, and only their subpackages import the
// rooms themselves.
func imports(room, inner string) map[string][]string {
	everything := maps.Clone(outside)
	for other := range floors {
		switch other {
		case room:
		case ".":
			everything["."] = []string{module}
		default:
			everything[other] = []string{path.Join(module, other, inner)}
		}
	}
	return everything
}

var refusal = regexp.MustCompile(`^(.+?):[0-9]+:[0-9]+: import '(.+?)' is not allowed`)

// refusals runs nothing but depguard over the house.
func refusals(t *testing.T, house string) []string {
	t.Helper()
	modfile, err := filepath.Abs("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	lint := exec.CommandContext(t.Context(), "go", "tool", "-modfile="+modfile, "golangci-lint", "run",
		"--allow-parallel-runners", "--enable-only=depguard",
		"--show-stats=false", "--output.text.print-issued-lines=false", "--output.text.path=stdout")
	lint.Dir = house
	lint.Stderr = os.Stderr
	out, err := lint.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		t.Fatalf("golangci-lint run: got %v, want exit status 1", err)
	}
	var all []string
	for line := range strings.Lines(string(out)) {
		found := refusal.FindStringSubmatch(line)
		if found == nil {
			t.Fatalf("golangci-lint run: %s", line)
		}
		all = append(all, found[1]+" "+found[2])
	}
	return all
}
