package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the database/sql driver "sqlite"
)

// Open opens the database at dsn and asks it something: a postgres:// URL, or the
// path of an SQLite file, which is created when it is missing. Errors name the
// database and never its password. Close the result.
func Open(ctx context.Context, dsn string) (*DB, error) {
	if err := Check(dsn); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	open := openSQLite
	if strings.Contains(dsn, "://") {
		open = openPostgres
	}
	db, name, err := open(dsn)
	if err != nil {
		return nil, fmt.Errorf("ledger: open %s: %w", name, err)
	}
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, fmt.Errorf("ledger: %s does not answer: %w", name, cause(ctx, err))
	}
	return db, nil
}

// Check says whether dsn has the form that [Open] takes.
func Check(dsn string) error {
	switch scheme, _, isURL := strings.Cut(dsn, "://"); {
	case !isURL, scheme == "postgres", scheme == "postgresql":
		return nil
	default: // without the rest, which may hold a password
		return fmt.Errorf("%s:// is neither a postgres:// URL nor the path of an SQLite file", scheme)
	}
}

// pgSchema keeps the example's tables out of the way of others.
const pgSchema = "holdfast_payments"

func openPostgres(dsn string) (*DB, string, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, "PostgreSQL", errors.New("not a postgres:// URL") // pgx's own text quotes it
	}
	config.RuntimeParams["search_path"] = pgSchema
	db := stdlib.OpenDB(*config)
	db.SetMaxIdleConns(16)
	empty := func(ctx context.Context) error {
		_, err := db.ExecContext(ctx, `DROP SCHEMA IF EXISTS `+pgSchema+` CASCADE; CREATE SCHEMA `+pgSchema, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	return &DB{DB: db, clear: empty}, "PostgreSQL at " + net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))), nil
}

// application marks an SQLite file as the example's: "hold", in ASCII.
const application = 0x686f6c64

func openSQLite(path string) (*DB, string, error) {
	name := "SQLite file " + path
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return nil, name, errors.New("no such folder")
	}
	dsn := (&url.URL{
		Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(),
		RawQuery: "_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)&_txlock=immediate",
	}).String()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, name, err
	}
	db.SetMaxOpenConns(4) // SQLite has one writer at a time
	empty := func(ctx context.Context) error { return clearSQLite(ctx, db) }
	return &DB{DB: db, clear: empty}, name, nil
}

// clearSQLite drops the example's tables, and refuses a file that has tables of
// somebody else.
func clearSQLite(ctx context.Context, db *sql.DB) error {
	var mark, tables int
	if err := db.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id), (SELECT COUNT(*) FROM sqlite_schema)`).Scan(&mark, &tables); err != nil {
		return err
	}
	if mark != application && tables > 0 {
		return errors.New("this SQLite file is another program's database")
	}
	for _, statement := range []string{
		fmt.Sprintf(`PRAGMA application_id = %d`, application),
		`PRAGMA journal_mode = WAL`, // the file keeps it
		`DROP TABLE IF EXISTS payments`,
		`DROP TABLE IF EXISTS accounts`,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// cause shortens pgx's report of every address tried, user and database
// included, to what went wrong.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if server, ok := errors.AsType[*pgconn.PgError](err); ok {
		return errors.New(server.Message)
	}
	if network, ok := errors.AsType[*net.OpError](err); ok {
		return network.Err
	}
	return err
}
