package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestABadFlagIsOneLineThatSaysWhatIsWanted(t *testing.T) {
	t.Parallel()
	const node = "redis://127.0.0.1:1"
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"unknown flag":        {[]string{"-nope"}, "-nope; run with -h for the flags"},
		"no number":           {[]string{"-workers", "x"}, "run with -h for the flags"},
		"queue no URL":        {[]string{"-redis", "user:secret@host"}, "-redis: not a redis:// URL; want one such as redis://localhost:6379"},
		"locks no URL":        {[]string{"-locks", "a=b=secret"}, "-locks: number 1 is not a redis:// URL; want one such as redis://"},
		"one lock node twice": {[]string{"-locks", node + "," + "b=" + node + "," + node}, "-locks: numbers 1 and 2 are one node, 127.0.0.1:1"},
		"another database":    {[]string{"-db", "mysql://u:secret@x/db"}, "-db: mysql:// is neither a postgres:// URL nor the path of an SQLite file"},
		"no host and port":    {[]string{"-otlp", "foo:bar:baz"}, `-otlp: "foo:bar:baz" is not host:port, such as localhost:4317`},
		"a secret collector":  {[]string{"-otlp", "http://u:secret@x:1"}, `-otlp: "x:1" is not host:port`},
		"book and ledger":     {[]string{"-book", "./x", "-db", "x"}, "-book: ./x is the ledger of -db"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, c.args...)
			code := s.code(t)
			text := s.err.String()
			if code != 2 || s.out.Len() > 0 || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "payments: ") || !strings.Contains(text, c.want) || strings.Contains(text, "secret") {
				t.Errorf("exit code %d\n%swant one line with %s", code, text, c.want)
			}
		})
	}
}

func TestOnlyABookIsOverwritten(t *testing.T) {
	t.Parallel()
	const charge = `{"charge":"ch_000001","id":"p1","account":"a1","amount_cents":5,"currency":"EUR","at":"2026-01-02T03:04:05Z"}` + "\n"
	const payment = `{"id":"p1","account":"a1","amount_cents":5,"currency":"EUR"}` + "\n"
	for name, c := range map[string]struct {
		text string
		in   string // "" is the sample, "same" the book, "-" the book as standard input
		want string // "" lets the run go on, to a queue that is down
	}{
		"a book":              {text: charge + charge},
		"an empty file":       {},
		"other text":          {text: "notes\n", want: "is not the book of an earlier run"},
		"a line that is none": {text: charge + "\n" + charge, want: "is not the book of an earlier run"},
		"other payments":      {text: payment, want: "is not the book of an earlier run"},
		"the input":           {text: payment, in: "same", want: "is the file of -in"},
		"standard input":      {text: payment, in: "-", want: "is the file of -in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			book := filepath.Join(t.TempDir(), "book.jsonl")
			if err := os.WriteFile(book, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"-book", book, "-redis", "redis://" + nobody(t)}
			switch c.in {
			case "same":
				args = append(args, "-in", book)
			case "-":
				args = append(args, "-in", "-")
			}
			s := start(t, args...)
			if c.in == "-" {
				file, err := os.Open(book)
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close()
				s.Stdin = file
			}
			code, text := s.code(t), s.err.String()
			if c.want == "" && (code != 1 || !strings.Contains(text, "queue's Redis")) {
				t.Errorf("exit code %d\n%s", code, text)
			}
			if c.want != "" && (code != 2 || !strings.HasPrefix(text, "payments: -book: "+book) || !strings.Contains(text, c.want)) {
				t.Errorf("exit code %d\n%s", code, text)
			}
			if kept, err := os.ReadFile(book); err != nil || string(kept) != c.text {
				t.Errorf("it became %q, %v", kept, err)
			}
		})
	}
}

func TestACollectorThatIsAwayIsOneLineAndNoOtherOutcome(t *testing.T) {
	t.Parallel()
	away := nobody(t)
	s := start(t, "-in", payments(t, 20), "-otlp", away)
	code, text := s.code(t), s.err.String()
	want := "payments: traces were not delivered to " + away + ": dial tcp " + away + ": "
	if code != 0 || strings.Count(text, want) != 1 || strings.Count(text, "deliver") != 1 || strings.Contains(text, "internal_logging") {
		t.Errorf("exit code %d\n%swant one line with %s", code, text, want)
	}
}

func TestTheHelpSaysEveryDefaultAndHidesUnsafe(t *testing.T) {
	t.Parallel()
	s := start(t, "-h")
	if code := s.code(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	help := s.out.String()
	flags := strings.Count(help, "\n  -")
	if defaults := strings.Count(help, "(default "); flags != 11 || defaults != flags || strings.Contains(help, "unsafe") {
		t.Errorf("%d flags, %d defaults:\n%s", flags, defaults, help)
	}
}
