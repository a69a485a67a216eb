package redlock

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

// redisRefusal is a state of a real server in which it refuses to write, by the
// commands that lead there and back. The last way in is one command that takes
// as long as the state lasts.
type redisRefusal struct {
	begin, end []string
	lasting    string
}

// refusals are those that a healthy server can be brought into; of what else
// servers say, scripted ones are enough.
func refusals(t *testing.T, key string) map[string]redisRefusal {
	t.Helper()
	dir := t.TempDir() // where no snapshot can be written, since a folder has its name
	if err := os.MkdirAll(filepath.Join(dir, "taken", "already"), 0o700); err != nil {
		t.Fatal(err)
	}
	return map[string]redisRefusal{
		"READONLY":  {begin: []string{"REPLICAOF 127.0.0.1 1"}, end: []string{"REPLICAOF NO ONE"}},
		"OOM":       {begin: []string{"CONFIG SET maxmemory 1"}, end: []string{"CONFIG SET maxmemory 0"}},
		"NOPERM":    {begin: []string{"ACL SETUSER default resetkeys"}, end: []string{"ACL SETUSER default allkeys"}},
		"WRONGTYPE": {begin: []string{"DEL " + key, "RPUSH " + key + " x", "RPUSH probe x"}, end: []string{"DEL " + key}},
		"MISCONF": {
			begin: []string{"CONFIG SET dir " + dir + " dbfilename taken", "CONFIG SET save 3600\u00a09999", "BGSAVE"},
			end:   []string{"CONFIG SET save "},
		},
		"BUSY": {
			begin:   []string{"CONFIG SET busy-reply-threshold 1"},
			lasting: "EVAL while\u00a0true\u00a0do\u00a0end 0",
			end:     []string{"SCRIPT KILL"},
		},
		"LOADING": {
			begin:   []string{"DEBUG POPULATE 20000", "CONFIG SET key-load-delay 1000 loading-process-events-interval-bytes 1024"},
			lasting: "DEBUG RELOAD",
			end:     []string{"CONFIG SET key-load-delay 0"},
		},
	}
}

// say sends commands, whose words are separated by spaces, and a space within a
// word is a no-break one.
func say(t *testing.T, s *servers.Redis, commands ...string) {
	t.Helper()
	for _, c := range commands {
		if _, err := s.Command(t.Context(), wordsOf(c)...); err != nil {
			t.Fatalf("%s: %v", c, err)
		}
	}
}

func wordsOf(command string) []string {
	words := strings.Split(command, " ")
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, "\u00a0", " ")
	}
	return words
}

// inflict brings a server into the state, and returns when it is there.
func (f redisRefusal) inflict(t *testing.T, s *servers.Redis, code string) {
	t.Helper()
	say(t, s, f.begin...)
	if f.lasting != "" {
		go func() { _, _ = s.Command(t.Context(), wordsOf(f.lasting)...) }()
	}
	eventually(t, "it refuses with "+code, func() bool {
		_, err := s.Command(t.Context(), "APPEND", "probe", "x")
		return err != nil && strings.HasPrefix(err.Error(), code)
	})
}

func TestServersThatRefuseAreOutvotedOrNamed(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"READONLY", "OOM", "NOPERM", "WRONGTYPE", "MISCONF", "LOADING", "BUSY"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 3, "--enable-debug-command", "local", "--enable-protected-configs", "local")
			l, key := rigLocker(t, r.direct()), newKey(t)
			f := refusals(t, l.recordKey(key))[code]

			f.inflict(t, r.servers[0], code)
			s := await(t, l, Key(key))
			if err := s.Check(t.Context()); err != nil {
				t.Error(err)
			}
			if got, err := s.Release(t.Context()); got != Released || err != nil {
				t.Error(got, err)
			}

			f.inflict(t, r.servers[1], code)
			_, err := l.TryAcquire(t.Context(), Key(key))
			none, ok := errors.AsType[*NoQuorumError](err)
			if !ok || errors.Is(err, ErrHeld) || len(none.Answers) != 3 {
				t.Fatal(err)
			}
			for _, a := range none.Answers[:2] {
				if a.Err == nil || !strings.Contains(a.String(), code) {
					t.Errorf("%+v", a)
				}
			}

			say(t, r.servers[0], f.end...)
			free(t, l, key)
			say(t, r.servers[1], f.end...)
		})
	}
}
