package servers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fatal is a test that only notes why it was failed.
type fatal struct {
	testing.TB
	why any
}

func (f *fatal) Fatal(args ...any) {
	f.why = args[0]
	panic(f) // Fatal does not return
}

func TestAMissingServerFailsTheTestWithTheLineThatInstallsIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	f := &fatal{TB: t}
	func() {
		defer func() { _ = recover() }()
		RedisNodes(f, 3)
	}()
	err, _ := f.why.(error)
	if err == nil || !strings.Contains(err.Error(), "redis-server is not installed: "+redisServer.install()) {
		t.Errorf("got %v", f.why)
	}
}

func TestTheNewestVersionBesidePATHIsTaken(t *testing.T) {
	root := t.TempDir()
	t.Setenv("PATH", filepath.Join(root, "nowhere"))
	for _, version := range []string{"9", "15", "13"} {
		bin := filepath.Join(root, version, "bin")
		if err := os.MkdirAll(bin, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(bin, "initdb"), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := program{name: "initdb", beside: []string{filepath.Join(root, "*", "bin")}}
	if got, err := p.find(); got != filepath.Join(root, "15", "bin", "initdb") {
		t.Errorf("got %s, %v", got, err)
	}
}
