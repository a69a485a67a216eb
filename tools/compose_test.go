package tools

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

// TestTheComposeFileHoldsTogether loads deploy/compose.yaml as docker compose
// does, and follows what it names: the hosts in the example's flags, and the
// Dockerfile.
func TestTheComposeFileHoldsTogether(t *testing.T) {
	t.Parallel()
	options, err := cli.NewProjectOptions([]string{"../deploy/compose.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	payments, err := project.GetService("payments")
	if err != nil {
		t.Fatal(err)
	}
	hosts := regexp.MustCompile(`([a-z-]+):[0-9]+`).FindAllStringSubmatch(strings.Join(payments.Command, " "), -1)
	if len(hosts) != 5 {
		t.Errorf("the example is given %d hosts, want a queue, three lock nodes and Jaeger", len(hosts))
	}
	for _, host := range hosts {
		if _, ok := project.Services[host[1]]; !ok {
			t.Errorf("the example is given %q, which is no service", host[0])
		}
		if _, waits := payments.DependsOn[host[1]]; !waits {
			t.Errorf("the example does not wait for %q", host[1])
		}
	}

	dockerfile := read(t, filepath.Join(payments.Build.Context, payments.Build.Dockerfile))
	goVersion := regexp.MustCompile(`(?m)^go ([0-9]+\.[0-9]+)`).FindStringSubmatch(read(t, "../go.mod"))[1]
	if want := "FROM golang:" + goVersion + "-"; !strings.Contains(dockerfile, want) {
		t.Errorf("deploy/Dockerfile: want %q, as in go.mod", want)
	}
}
