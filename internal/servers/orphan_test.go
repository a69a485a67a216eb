package servers

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The test binary starts itself once more as a process that starts servers and
// is then killed. Two folders, separated by a space, tell it so.
const orphanFolders = "HOLDFAST_TEST_ORPHAN_FOLDERS"

func isOrphanMaker() bool { return os.Getenv(orphanFolders) != "" }

// makeOrphans starts a server of each kind, prints their addresses on one line
// and waits to be killed.
func makeOrphans() {
	var redisDir, postgresDir string
	if _, err := fmt.Sscan(os.Getenv(orphanFolders), &redisDir, &postgresDir); err != nil {
		panic(err)
	}
	r, err := StartRedis(redisDir)
	if err != nil {
		panic(err)
	}
	c, err := StartPostgres(postgresDir)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s 127.0.0.1:%d\n", r.Addr(), c.port)
	select {}
}

// killedParent returns the addresses of the servers whose parent it killed.
func killedParent(t *testing.T) []string {
	t.Helper()
	postgresDir, err := os.MkdirTemp("", "holdfast-postgres-") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(postgresDir) })
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), orphanFolders+"="+t.TempDir()+" "+postgresDir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	addrs := strings.Fields(line)
	for _, addr := range addrs {
		if !listens(addr) {
			t.Errorf("%s does not listen while its parent lives", addr)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // "signal: killed"
	if err != nil || len(addrs) != 2 {
		t.Fatalf("the parent said %q, %v", line, err)
	}
	return addrs
}
