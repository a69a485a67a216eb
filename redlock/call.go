package redlock

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// maxCall is how many requests one call of the script carries. The node does
// nothing else meanwhile: about half a millisecond.
const maxCall = 64

// Verbs of the script.
const (
	verbAcquire = "acquire"
	verbExtend  = "extend"
	verbSettle  = "settle"
)

// pack turns requests into commands, in their order, and says how many of them
// each command carries: a call of the script as many as may be, since finding the
// script, the marker and the time costs a node as much as a request does.
func pack(batch []*request, marker, sha string) (cmds [][]any, shares []int) {
	for len(batch) > 0 {
		if batch[0].verb == "" {
			cmds, shares, batch = append(cmds, batch[0].args), append(shares, 1), batch[1:]
			continue
		}
		n, words, keys := 0, 4, 1
		for n < len(batch) && n < maxCall && batch[n].verb != "" {
			words += 3 + len(batch[n].keys) + len(batch[n].args)
			keys += len(batch[n].keys)
			n++
		}
		cmd := append(make([]any, 0, words), "EVALSHA", sha, keys, marker)
		for _, r := range batch[:n] {
			cmd = append(cmd, r.keys...)
		}
		for _, r := range batch[:n] {
			cmd = append(cmd, r.verb, r.held, len(r.keys))
			cmd = append(cmd, r.args...)
		}
		cmds, shares, batch = append(cmds, cmd), append(shares, n), batch[n:]
	}
	return cmds, shares
}

// unpack reads the answer to a command into the votes of its requests, and
// returns the node's time in it, if there is one.
func (n *node) unpack(batch []*request, a answer, votes []vote) (now int64) {
	for i := range votes {
		votes[i].err = a.err
	}
	switch {
	case batch[0].verb == "":
		votes[0].reply, votes[0].err = plain(batch[0], a)
		return votes[0].reply.now
	case a.err != nil:
		return 0
	case len(a.text) == 1 && a.text[0] == codeRejoin:
		for i := range votes {
			votes[i].reply.code = codeRejoin
		}
		return 0
	case len(a.text) != 1+len(batch):
		for i := range votes {
			votes[i].err = fmt.Errorf("redlock: node %s: %d answers to %d requests", n.name, len(a.text)-1, len(batch))
		}
		return 0
	}
	now, _ = strconv.ParseInt(a.text[0], 10, 64)
	for i, text := range a.text[1:] {
		if why, bad := strings.CutPrefix(text, "-"); bad {
			votes[i].err = refusal(why)
			continue
		}
		votes[i].reply = readReply(text)
		votes[i].reply.now = now
	}
	return now
}

// readReply reads an answer of the script.
func readReply(text string) reply {
	text, record, _ := strings.Cut(text, "\n")
	words := strings.Split(text, " ")
	return reply{code: words[0], fields: words[1:], record: record}
}

// refusal is what Redis has against one request of a call.
type refusal string

func (r refusal) Error() string { return string(r) }

// RedisError makes it one of Redis's own for go-redis.
func (refusal) RedisError() {}

// plain is the reply to one of the few commands that are no script.
func plain(r *request, a answer) (reply, error) {
	switch {
	case errors.Is(a.err, redis.Nil):
		return reply{code: codeNone}, nil
	case a.err != nil:
		return reply{}, a.err
	case r.args[0] == "TIME" && len(a.text) == 2:
		return reply{code: codeOK, now: timeOf(a.text)}, nil
	}
	return reply{code: codeDone, record: a.text[0]}, nil
}

// timeOf is the reply to TIME, in microseconds.
func timeOf(text []string) int64 {
	sec, _ := strconv.ParseInt(text[0], 10, 64)
	micro, _ := strconv.ParseInt(text[1], 10, 64)
	return sec*1e6 + micro
}
