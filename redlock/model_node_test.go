package redlock

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// modelNode is one lock node as the protocol describes it, in plain Go. It
// answers commands as a Redis with our scripts does, byte for byte, and is what
// simulated schedules run against. It is safe for concurrent use.
type modelNode struct {
	clock   func() int64                  // microseconds since 1970
	publish func(channel, message string) // nil: nobody listens; it must not call back
	without leftOut                       // rules that this node breaks
	mute    bool                          // it does not tell its run ID

	mu      sync.Mutex
	name    string
	lives   int
	scripts map[string]modelScript // by SHA; a restart forgets them
	modelStore
}

// leftOut are rules of the protocol, for runs that show what each is there for.
type leftOut struct {
	noQuarantine           bool // it votes as soon as it is up
	noBootFloor            bool // tokens from before its boot are good
	noBound                bool // tokens may be ahead of its clock by any time
	noExpiredFloor         bool // what has expired might never have been
	lowIsFine              bool // it grants at its floor and below
	noRaisedFloorOnAbandon bool // late messages of a failed attempt are good
	noMarker               bool // it answers clients of any life and config
	staleIsFine            bool // it records a finish under a lock that is not held
	noRepairLimit          bool // it sets a missing grant again however late it is told
}

type modelScript struct {
	life modelLife
	run  func(m *modelNode, l modelLife, keys, args []string) []string
}

// modelAsk is one request of a call.
type modelAsk struct {
	verb             string
	records, waiters []string
	done             string
	args             []string
	full             bool // it goes with a completion record, or is counted
}

// modelAsks takes a call apart: what follows the marker, and the arguments.
func modelAsks(keys, args []string) (asks []modelAsk) {
	for len(args) > 0 {
		a := modelAsk{verb: args[0]}
		held, own := parse(args[1]), parse(args[2])
		a.records, keys = keys[:held], keys[held:]
		if a.full = own > held; a.full {
			a.done, a.waiters, keys = keys[0], keys[1:1+held], keys[1+held:]
		}
		size := map[string]int64{verbAcquire: 3, verbExtend: 4, verbSettle: 3 + held}[a.verb]
		if a.full {
			size += map[string]int64{verbAcquire: 4, verbSettle: 3}[a.verb]
		}
		a.args, args = args[3:3+size], args[3+size:]
		asks = append(asks, a)
	}
	return asks
}

// call answers every request of a call.
func (m *modelNode) call(l modelLife, keys, args []string) []string {
	if m.gone(l, keys[0]) {
		return []string{codeRejoin}
	}
	answers := []string{number(m.now)}
	for _, a := range modelAsks(keys[1:], args) {
		switch a.verb {
		case verbAcquire:
			answers = append(answers, m.acquire(l, a))
		case verbExtend:
			answers = append(answers, m.extend(l, a))
		case verbSettle:
			answers = append(answers, m.settle(l, a))
		}
	}
	return answers
}

// newModelNode starts a node with nothing on it.
func newModelNode(name string, clock func() int64) *modelNode {
	m := &modelNode{clock: clock, name: name}
	m.restart(loseAll)
	return m
}

// life counts the node's processes.
func (m *modelNode) life() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lives
}

// runID is another one in every life.
func (m *modelNode) runID() string { return fmt.Sprintf("%s.%d", m.name, m.lives) }

const (
	loseNothing = 0
	loseAll     = -1
)

// restart begins a new life with all that was written but for the last writes,
// where all that one script writes is one write.
func (m *modelNode) restart(lose int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lives++
	m.scripts = map[string]modelScript{}
	m.lose(lose)
}

// flush forgets all keys, and is still the same life.
func (m *modelNode) flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lose(loseAll)
}

// pipeline answers commands in turn.
func (m *modelNode) pipeline(cmds [][]any) []answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	answers := make([]answer, len(cmds))
	for i, c := range cmds {
		words := make([]string, len(c))
		for j, w := range c {
			words[j] = word(w)
		}
		m.begin(m.clock())
		answers[i] = m.answer(words)
		m.end()
	}
	return answers
}

func word(w any) string {
	switch w := w.(type) {
	case string:
		return w
	case int:
		return strconv.Itoa(w)
	case int64:
		return number(w)
	}
	panic(fmt.Sprintf("model: %T on the wire", w))
}

func (m *modelNode) answer(words []string) answer {
	switch strings.ToUpper(words[0]) {
	case "EVALSHA":
		s, ok := m.scripts[words[1]]
		if !ok {
			return answer{err: refusal("NOSCRIPT No matching script. Please use EVAL.")}
		}
		return m.eval(s, words[2:])
	case "EVAL":
		return m.eval(modelScriptOf(words[1]), words[2:])
	case "SCRIPT":
		sum := sha1.Sum([]byte(words[2]))
		sha := hex.EncodeToString(sum[:])
		if _, ok := m.scripts[sha]; !ok {
			m.scripts[sha] = modelScriptOf(words[2])
		}
		return answer{text: []string{sha}}
	case "INFO":
		if m.mute {
			return answer{err: refusal("NOPERM this user has no permissions to run the 'info' command")}
		}
		return answer{text: []string{"# Server\r\nredis_version:7.0.15\r\nrun_id:" + m.runID() + "\r\n"}}
	case "TIME":
		return answer{text: []string{number(m.now / 1e6), number(m.now % 1e6)}}
	case "GET":
		if text, ok := m.text(words[1]); ok {
			return answer{text: []string{text}}
		}
		return answer{err: redis.Nil}
	}
	panic("model: no such command: " + words[0])
}

// eval takes what follows the script in EVAL and EVALSHA.
func (m *modelNode) eval(s modelScript, words []string) answer {
	keys := int(parse(words[0]))
	return answer{text: s.run(m, s.life, words[1:1+keys], words[1+keys:])}
}

func parse(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic("model: " + err.Error())
	}
	return n
}
