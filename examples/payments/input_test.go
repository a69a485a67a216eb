package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

func TestBadInputIsReportedAndNothingIsEnqueued(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var visits atomic.Int64
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		for {
			if _, err := listener.Accept(); err != nil {
				return
			}
			visits.Add(1)
		}
	}()
	redis := "redis://" + listener.Addr().String()

	file := filepath.Join(t.TempDir(), "bad.jsonl")
	lines := `{"id":"p1","account":"a1","amount_cents":500,"currency":"EUR"}` + "\n" + strings.Repeat(`{"id":"p2","account":"a1","amount_cents":-1,"currency":"EUR"}`+"\n", 22)
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	const reason = `amount_cents: "-1" is not a whole number of cents from 1 to 1000000000000`
	for _, c := range []struct {
		args         []string
		stdin        string
		lines        int
		first, final string
	}{
		{[]string{"-in", file}, "", 21, file + ":2: " + reason, "and 2 more bad lines"},
		{[]string{"-in", "-"}, "id,account,amount_cents,currency\nx,y,-1,EUR\n", 1, "stdin:2: " + reason, "stdin:2: " + reason},
		{[]string{"-in", "-"}, "", 1, "payments: -in: stdin: no payments in it", "payments: -in: stdin: no payments in it"},
		{[]string{"-in", "nowhere.csv"}, "", 1, "payments: -in: open nowhere.csv: no such file or directory", "payments: -in: open nowhere.csv: no such file or directory"},
		{[]string{"-workers", "0"}, "", 1, "payments: -workers: 0 is not 1 to 32", "payments: -workers: 0 is not 1 to 32"},
		{[]string{"-locks", "a,b"}, "", 1, "payments: -locks: 2 URLs are not 1, 3, 5 or 7", "payments: -locks: 2 URLs are not 1, 3, 5 or 7"},
	} {
		s := start(t, append(c.args, "-redis", redis)...)
		s.Stdin = strings.NewReader(c.stdin)
		if code := s.code(t); code != 2 || s.out.Len() > 0 {
			t.Errorf("%v: exit code %d, standard output %q", c.args, code, &s.out)
		}
		got := strings.Split(strings.TrimSpace(s.err.String()), "\n")
		if len(got) != c.lines || got[0] != c.first || got[len(got)-1] != c.final {
			t.Errorf("%v: got\n%s", c.args, &s.err)
		}
	}
	listener.Close()
	<-accepted
	if n := visits.Load(); n > 0 {
		t.Errorf("the queue was connected to %d times", n)
	}
}
