package redlock

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// sequence is a random history of one node, made up while the model lives
// through it: what comes next is chosen near what the model knows.
type sequence struct {
	choices
	model     *modelNode
	prefix    string // of all its keys and channels
	clockKey  string // where the scripts of this test read the time
	now       int64
	lives     []life
	texts     map[string]bool // that were loaded
	steps     []step
	published []string
}

// step is one command, when it comes, and what the model says to it.
type step struct {
	now   int64
	cmd   []any
	asked int // requests, if it is a call of the script
	said  answer
	kept  map[string]modelEntry // afterwards; nil of a step that sets the stage
}

const (
	sequenceKeys       = 3
	sequenceStart      = int64(1_700_000_000_000_000)
	sequenceWaiterLife = int64(300_000_001)
)

// sequenceConfigs differ in names and times.
var sequenceConfigs = []Config{
	{Nodes: []Node{{Name: "a:1"}, {Name: "b:2"}}, MaxTTL: 10 * time.Second, Bound: 5 * time.Second, FenceTTL: time.Minute},
	{Nodes: []Node{{Name: "c"}}, MaxTTL: 7 * time.Second, Bound: 3 * time.Second, FenceTTL: 3*time.Minute + time.Microsecond},
}

func newSequence(prefix, clockKey string, data []byte) *sequence {
	s := &sequence{choices: choices{data}, prefix: prefix, clockKey: clockKey, now: sequenceStart, texts: map[string]bool{}}
	s.model = newModelNode("model", func() int64 { return s.now })
	s.model.ageless = true
	s.model.publish = func(channel, message string) { s.published = append(s.published, channel+" "+message) }
	s.join(0, "run1", "found")
	s.now += 10e6
	for s.more() {
		s.step()
	}
	return s
}

func (s *sequence) step() {
	switch s.below(17) {
	case 0, 1, 2, 3:
		s.call(s.acquire())
	case 4, 5, 6:
		s.call(s.extend())
	case 7, 8, 9:
		s.call(s.settle())
	case 10:
		s.call(s.acquire(), s.settle(), oneOf(&s.choices, s.acquire, s.extend, s.settle)())
	case 11:
		mode := oneOf(&s.choices, "look", "found", "found", "drain", "replace", "replace", "replace")
		s.join(oneOf(&s.choices, 0, 0, 1), oneOf(&s.choices, "run1", "run1", "run2", ungated), mode)
	case 12:
		s.plant()
	case 13:
		s.forget()
	case 14:
		s.say("GET", oneOf(&s.choices, s.markerKey(), s.doneKey(), s.key("record", 0)))
		s.say("EVALSHA", strings.Repeat("0", 40), 0)
	default:
		s.travel()
	}
}

// say puts a command to the model.
func (s *sequence) say(cmd ...any) answer {
	a := s.model.pipeline([][]any{cmd})[0]
	s.steps = append(s.steps, step{now: s.now, cmd: cmd, said: a, kept: maps.Clone(s.model.keys)})
	return a
}

func (s *sequence) key(kind string, i int) string { return fmt.Sprintf("%s%s%d", s.prefix, kind, i) }
func (s *sequence) markerKey() string             { return s.prefix + "marker" }
func (s *sequence) doneKey() string               { return s.prefix + "done" }

// keys are all that a node may hold of this sequence.
func (s *sequence) keys() []string {
	all := []string{s.markerKey(), s.doneKey()}
	for i := range sequenceKeys {
		all = append(all, s.key("record", i), s.key("waiters", i))
	}
	return all
}

// claimed are one to three keys, in any order.
func (s *sequence) claimed() []int {
	first, n := s.below(sequenceKeys), oneOf(&s.choices, 1, 1, 2, 3)
	claimed := make([]int, n)
	for i := range claimed {
		claimed[i] = (first + i) % sequenceKeys
	}
	return claimed
}

// token is near what decides about tokens.
func (s *sequence) token() int64 {
	l := s.life()
	marked := modelLifeOf(l.marker)
	numbers := []int64{s.now, s.now + marked.bound, marked.boot + marked.bound, s.now - marked.fenceTTL + marked.bound}
	for i := range sequenceKeys {
		r := s.model.record(s.key("record", i))
		numbers = append(numbers, r.grant.token, r.grant.token, r.floor, r.prev.token)
	}
	return max(1, near(&s.choices, numbers...))
}

// life is mostly the last that was joined.
func (s *sequence) life() life {
	back := oneOf(&s.choices, 0, 0, 0, 0, 0, 0, 0, 1)
	return s.lives[max(0, len(s.lives)-1-back)]
}

func (s *sequence) nonce() string { return oneOf(&s.choices, "me", "you", "they") }

// join asks under one of the configs, and loads the scripts of what it joined.
func (s *sequence) join(config int, run, mode string) {
	cfg := sequenceConfigs[config]
	cmd := []any{"EVAL", onTestClock(joinText, s.clockKey).text, 1, s.markerKey(), run, configText(cfg), mode}
	if mode == joinReplace && s.below(2) == 0 {
		present, _ := s.model.text(s.markerKey())
		cmd = append(cmd, oneOf(&s.choices, present, "run1:1:another"))
	}
	a := s.say(cmd...)
	if a.text[0] != codeJoined {
		return
	}
	l, err := newLife(a.text[2], cfg)
	if err != nil {
		panic(err)
	}
	l.script = onTestClock(l.script.text, s.clockKey)
	if !s.texts[l.script.text] {
		s.texts[l.script.text] = true
		s.say("SCRIPT", "LOAD", l.script.text)
	}
	if !slices.ContainsFunc(s.lives, func(known life) bool { return known.marker == l.marker }) {
		s.lives = append(s.lives, l)
	}
}

// until tells a sequence up to a step.
func (s *sequence) until(last int) string {
	var b strings.Builder
	for _, st := range s.steps[:last+1] {
		cmd := slices.Clone(st.cmd)
		for i, w := range cmd {
			if text, ok := w.(string); ok && strings.HasPrefix(text, "--") {
				cmd[i], _, _ = strings.Cut(text, "\n")
			}
		}
		fmt.Fprintf(&b, "%d: %v -> %q\n", st.now, cmd, st.said.text)
	}
	return b.String()
}
