package servers

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// Cluster is one PostgreSQL server with any number of databases. The one who
// started it closes it. It is safe for concurrent use.
type Cluster struct {
	port      int
	data      string
	proc      *process
	databases atomic.Int64
}

// StartPostgres makes a PostgreSQL cluster in dir, starts it on a free loopback
// port and returns once it answers. dir must exist and be its own.
//
// It is fast, not durable: fsync is off. Everyone on this machine may connect.
// PostgreSQL refuses to run as root, so for root it runs as the user postgres,
// who then owns dir and must be able to reach it.
func StartPostgres(dir string) (*Cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("servers: start postgres: %w", err)
	}
	initdb, err := postgresInitdb.find()
	if err != nil {
		return nil, err
	}
	attr, err := unprivileged(dir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{data: filepath.Join(dir, "data")}
	cmd := exec.Command(initdb, "--pgdata", c.data, "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--no-locale", "--no-sync", "--no-instructions")
	cmd.Dir, cmd.SysProcAttr = dir, attr
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("servers: initdb: %w\n%s", err, out)
	}
	postgres := filepath.Join(filepath.Dir(initdb), "postgres")
	err = onFreePort(func(port int) error {
		c.port = port
		return c.start(postgres, dir, attr)
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(path, dir string, attr *syscall.SysProcAttr) error {
	cmd := exec.Command(path, "-D", c.data, "-p", strconv.Itoa(c.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
	cmd.SysProcAttr = attr
	p, err := spawn(cmd, dir, syscall.SIGQUIT) // so that it takes its own children along
	if err != nil {
		return err
	}
	if err := p.ready(c.ping); err != nil {
		return fmt.Errorf("servers: start postgres on port %d: %w", c.port, err)
	}
	c.proc = p
	return nil
}

// ping succeeds if the server serves and is this one: another may have taken
// the port first.
func (c *Cluster) ping(ctx context.Context) error {
	return c.query(ctx, func(conn *pgx.Conn) error {
		var data string
		if err := conn.QueryRow(ctx, "SHOW data_directory").Scan(&data); err != nil {
			return err
		}
		if data != c.data {
			return fmt.Errorf("port %d is the server of %s", c.port, data)
		}
		return nil
	})
}

// Database makes a fresh, empty database and returns its DSN,
// "postgres://postgres@127.0.0.1:PORT/NAME?sslmode=disable". It goes with the
// cluster.
func (c *Cluster) Database(ctx context.Context) (string, error) {
	name := "test" + strconv.FormatInt(c.databases.Add(1), 10)
	err := c.query(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE DATABASE "+name)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("servers: create database: %w", err)
	}
	return c.dsn(name), nil
}

// Close ends the server, open connections or not, and removes its data.
// Further calls do nothing.
func (c *Cluster) Close() error {
	c.proc.end(syscall.SIGQUIT)
	if err := os.RemoveAll(c.data); err != nil {
		return fmt.Errorf("servers: close postgres: %w", err)
	}
	return nil
}

// query calls f with a connection to the database that every cluster has.
func (c *Cluster) query(ctx context.Context, f func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, c.dsn("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return f(conn)
}

func (c *Cluster) dsn(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.User("postgres"), Host: "127.0.0.1:" + strconv.Itoa(c.port),
		Path: database, RawQuery: "sslmode=disable",
	}
	return u.String()
}
