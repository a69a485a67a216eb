package servers

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestPostgres(t *testing.T) {
	t.Parallel()
	began := time.Now()
	Postgres(t) // keeps one server for all that follows
	t.Logf("first database in %.2f s", time.Since(began).Seconds())
	t.Run("EveryCallGetsAFreshDatabase", everyCallGetsAFreshDatabase)
	t.Run("AnotherServerIsNotTakenForOurs", anotherServerIsNotTakenForOurs)
}

func everyCallGetsAFreshDatabase(t *testing.T) {
	began := time.Now()
	one, two := Postgres(t), Postgres(t)
	t.Logf("two more databases in %.2f s", time.Since(began).Seconds())
	if one == two {
		t.Fatalf("the same database twice: %s", one)
	}
	for _, dsn := range []string{one, two} { // the second finds the name free
		if !strings.HasPrefix(dsn, "postgres://") {
			t.Errorf("got DSN %q", dsn)
		}
		if _, err := connect(t, dsn).Exec(t.Context(), "CREATE TABLE payments (id text)"); err != nil {
			t.Error(err)
		}
	}
}

func anotherServerIsNotTakenForOurs(t *testing.T) {
	Postgres(t)
	if err := shared.cluster.ping(t.Context()); err != nil {
		t.Errorf("its own folder: %v", err)
	}
	stranger := &Cluster{port: shared.cluster.port, data: t.TempDir()}
	if err := stranger.ping(t.Context()); err == nil {
		t.Error("another folder was accepted")
	}
}

// Not parallel: while it runs, no other test holds the shared server.
func TestTheServerEndsWithItsLastTest(t *testing.T) {
	var addr, dir string
	t.Run("outer", func(t *testing.T) {
		cfg, err := pgx.ParseConfig(Postgres(t))
		if err != nil {
			t.Fatal(err)
		}
		addr, dir = net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port))), shared.dir
		t.Run("inner", func(t *testing.T) { connect(t, Postgres(t)) })
		if !listens(addr) {
			t.Error("the server ended with the inner test")
		}
	})
	if listens(addr) {
		t.Error("the server outlived the outer test")
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("its folder: %v", err)
	}
}

func TestAClosedFolderAboveIsNamed(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.MkdirAll(filepath.Join(closed, "dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := reachable(filepath.Join(closed, "dir"))
	if err == nil || !strings.Contains(err.Error(), closed) {
		t.Errorf("got %v, want it to name %s", err, closed)
	}
}
