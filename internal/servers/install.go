package servers

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// program is a server's executable and how to install it.
type program struct {
	name   string
	debian string   // apt package
	brew   string   // Homebrew formula
	beside []string // folders to look in after PATH, as glob patterns
}

var (
	redisServer = program{name: "redis-server", debian: "redis-server", brew: "redis"}
	compiler    = program{name: "gcc", debian: "gcc libc6-dev", brew: "gcc"}
	// initdb stands for all of PostgreSQL: its siblings are in the same folder.
	// Debian and Homebrew keep that folder out of PATH.
	postgresInitdb = program{name: "initdb", debian: "postgresql", brew: "postgresql", beside: []string{
		"/usr/lib/postgresql/*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin",
	}}
)

// find returns the program's path: the first in PATH, else the one of the
// newest version beside it. The error has the one line that installs it.
func (p program) find() (string, error) {
	if path, err := exec.LookPath(p.name); err == nil {
		return path, nil
	}
	for _, pattern := range p.beside {
		folders, err := filepath.Glob(pattern)
		if err != nil {
			return "", fmt.Errorf("servers: find %s: %w", p.name, err)
		}
		slices.SortFunc(folders, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
		for _, folder := range folders {
			if path, err := exec.LookPath(filepath.Join(folder, p.name)); err == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("servers: %s is not installed: %s", p.name, p.install())
}

// install returns the command line that installs the program here.
func (p program) install() string {
	if _, err := os.Stat("/etc/debian_version"); err == nil {
		return "apt-get install -y " + p.debian
	}
	return "brew install " + p.brew
}

// version returns the major version in a folder such as
// /usr/lib/postgresql/15/bin or …/postgresql@17/bin, 0 if it names none.
func version(folder string) int {
	name := filepath.Base(filepath.Dir(folder))
	n, _ := strconv.Atoi(name[strings.LastIndexByte(name, '@')+1:])
	return n
}
