package ledger

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestResetOpensAccountsAfreshInAnSQLiteFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "50% off?#.db")
	resetTwice(t, path)
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
}

// resetTwice is what holds for every database.
func resetTwice(t *testing.T, dsn string) {
	t.Helper()
	db, err := Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	openings := map[Account]int64{{"a1", "EUR"}: 1000, {"a1", "JPY"}: 5, {"a2", "EUR"}: 70}
	for range 2 {
		if err := Reset(t.Context(), db, openings); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), `INSERT INTO payments VALUES ($1, $2, $3, $4, $5, $6)`, "p1", "a1", "EUR", 400, "ch_1", 9); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Lines(t.Context(), db)
	want := map[Account]Line{{"a1", "EUR"}: {1000, 1000, 1, 400}, {"a1", "JPY"}: {5, 5, 0, 0}, {"a2", "EUR"}: {70, 70, 0, 0}}
	if err != nil || !maps.Equal(got, want) {
		t.Fatalf("got %v, %v; want %v", got, err, want)
	}
}

func TestAnotherProgramsSQLiteFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "other.db")
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ExecContext(t.Context(), `CREATE TABLE accounts (id TEXT)`); err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := Reset(t.Context(), db, nil); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Fatalf("got %v", err)
	}
}

func TestADatabaseThatIsDownIsNamedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	for dsn, want := range map[string]string{
		"postgres://user:secret@" + address + "/db": "ledger: PostgreSQL at " + address + " does not answer: connect: connection refused",
		"postgres://user:secret@:x/db":              "ledger: open PostgreSQL: not a postgres:// URL",
		"/no/such/folder/x.db":                      "ledger: open SQLite file /no/such/folder/x.db: no such folder",
	} {
		if _, err := Open(t.Context(), dsn); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", dsn, err, want)
		}
	}
}

func TestADatabaseThatIsSilentIsGivenUpWithTheContext(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, "postgres://u:secret@"+listener.Addr().String()+"/db"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
}
