package holdfast_test

import (
	"os"
	"strings"
	"testing"
)

// The first program a reader sees is a program that runs: examples/hello tests it.
func TestTheReadmeShowsHelloAsItIs(t *testing.T) {
	t.Parallel()
	hello, err := os.ReadFile("examples/hello/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "README.ja.md"} {
		readme, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(readme), "```go\n")
		shown, _, _ := strings.Cut(rest, "```")
		if shown != string(hello) {
			t.Errorf("the first code block of %s is not examples/hello/main.go", name)
		}
	}
}

// A table that cites a test cites one that exists.
func TestTheTestsThatTheDocsCiteExist(t *testing.T) {
	t.Parallel()
	tests := sources(t)
	for _, name := range []string{"README.md", "docs/guarantees.md"} {
		doc, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		cited := 0
		for _, word := range strings.FieldsFunc(string(doc), func(r rune) bool { return r == '`' || r == ' ' }) {
			if strings.HasPrefix(word, "Test") {
				cited++
				if !strings.Contains(tests, "func "+word+"(") {
					t.Errorf("%s cites %s, which is no test", name, word)
				}
			}
		}
		if cited == 0 {
			t.Errorf("%s cites no test", name)
		}
	}
}

func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, room := range []string{"redlock", "middleware/lock", "queue", "worker"} {
		files, err := os.ReadDir(room)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f.Name(), "_test.go") {
				source, err := os.ReadFile(room + "/" + f.Name())
				if err != nil {
					t.Fatal(err)
				}
				all.Write(source)
			}
		}
	}
	return all.String()
}
