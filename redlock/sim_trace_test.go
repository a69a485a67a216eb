package redlock

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// say tells what happens, to people or to the hash that compares replays.
func (w *simWorld) say(format string, args ...any) {
	if w.tell == nil {
		return
	}
	w.telling.Lock()
	defer w.telling.Unlock()
	w.tell(fmt.Sprintf("%5d %11v  ", w.steps.Load(), w.now().Round(time.Microsecond)) + fmt.Sprintf(format, args...))
}

// brief is commands for people.
type brief [][]any

func (b brief) String() string {
	var all []string
	for _, c := range b {
		words := []string{word(c[0])}
		switch c[0] {
		case "EVALSHA":
			words = nil
			for _, a := range asksOf(c) {
				words = append(words, append([]string{a.verb}, a.args...)...)
			}
		case "EVAL":
			words = []string{"join", word(c[4]), word(c[6])}
		}
		all = append(all, strings.Join(words, " "))
	}
	return strings.Join(all, "; ")
}

// replies is answers for people.
type replies []answer

func (r replies) String() string {
	var all []string
	for _, a := range r {
		text := strings.Join(strings.Fields(strings.Join(a.text, " ")), " ")
		if a.err != nil {
			text = a.err.Error()
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// simHash is the hash of a history.
type simHash struct{ sum uint64 }

func (h *simHash) add(line string) {
	f := fnv.New64a()
	_, _ = fmt.Fprintf(f, "%x %s", h.sum, line)
	h.sum = f.Sum64()
}
