package redlock

import (
	"errors"
	"slices"
	"time"
)

// tally counts the votes of one proposal. A verdict is final, no answer that is
// still to come could change it; but again and adopt, which say that waiting for
// this token is over.
type tally struct {
	nodes, need int
	token       int64
	votes       []vote
}

type verdict int

const (
	undecided verdict = iota
	won               // a majority granted this token
	again             // this token cannot win, another might
	adopt             // a completion record is in the way that too few nodes keep
	held              // a majority would grant, but for another holder
	done              // a majority keeps the same completion record
	noQuorum          // too few nodes have a vote
)

// add counts a vote. One on an earlier proposal says less than what its node
// answers next, and is passed over; so is a second one from a node that was asked
// twice, unless the first was no answer.
func (t *tally) add(v vote) {
	if v.token != t.token {
		return
	}
	for i, o := range t.votes {
		if o.node == v.node {
			if o.err != nil {
				t.votes[i] = v
			}
			return
		}
	}
	t.votes = append(t.votes, v)
}

func (t *tally) granted(v vote) bool {
	return v.yes(codeOK) && v.reply.number(0) == t.token
}

func (t *tally) verdict() verdict {
	pending := t.nodes - len(t.votes)
	var ok, retry, others, records int
	for _, v := range t.votes {
		switch {
		case t.granted(v):
			ok++
		case v.err != nil, v.mute:
		case v.reply.code == codeHeld:
			others++
		case v.reply.code == codeDone:
			records++
		case v.reply.code == codeLow, v.reply.code == codeFuture, v.reply.code == codeOK:
			retry++ // OK for a higher proposal of the same attempt is not a vote for this one
		}
	}
	_, dones := t.record()
	switch {
	case ok >= t.need:
		return won
	case dones >= t.need:
		return done
	case ok+pending >= t.need:
		return undecided // it may still win
	case dones > 0 && dones+pending >= t.need:
		return undecided // it may prove done
	case records > 0 && ok+retry+records+pending >= t.need:
		return adopt
	case ok+retry+pending >= t.need:
		return again
	case ok+retry+records+others >= t.need:
		return held
	case ok+retry+records+others+pending >= t.need:
		return undecided // it may prove held
	}
	return noQuorum
}

// silent reports whether nodes that were asked and gave no answer could make the
// difference.
func (t *tally) silent() bool {
	ok, silent := 0, 0
	for _, v := range t.votes {
		switch {
		case t.granted(v):
			ok++
		case v.err != nil && !v.unsent && !answered(v.err) && !errors.Is(v.err, ErrConfig):
			silent++
		}
	}
	return silent > 0 && ok+silent >= t.need
}

// records are the completion records that answers showed: those of nodes that do
// not grant for it, and those that came with grants.
func (t *tally) records() (texts []string) {
	for _, v := range t.votes {
		if v.err == nil && v.reply.record != "" {
			texts = append(texts, v.reply.record)
		}
	}
	return texts
}

// record is the completion record that most nodes keep, and how many do. A node
// that answers DONE does not grant, and does not say that the job is done
// unless a majority says the same: so a committed record that one node forgot
// still stops a second run. One that fewer keep is adopted first.
func (t *tally) record() (string, int) {
	var best string
	times := map[string]int{}
	for _, v := range t.votes {
		if v.said(codeDone) && v.reply.record != "" {
			r := v.reply.record
			times[r]++
			if times[r] > times[best] {
				best = r
			}
		}
	}
	return best, times[best]
}

// seen is the highest token that the nodes spoke of. One whose clock is off raises
// nothing: it must not stop a key.
func (t *tally) seen() (high int64) {
	for _, v := range t.votes {
		if c := v.reply.code; v.err == nil && !v.mute && (c == codeLow || c == codeHeld || c == codeOK) {
			at := 0
			if c == codeHeld {
				at = 1
			}
			high = max(high, v.reply.number(at))
		}
	}
	return high
}

// validity is the majority-th largest of the grants' ends: until then a majority
// of nodes keeps each of its grants, whatever the others do. 0 is none.
func validity(ends []time.Duration, need int) time.Duration {
	sorted := slices.Clone(ends)
	slices.Sort(sorted)
	return sorted[len(sorted)-need]
}

// waited is what the nodes that answered code know of the claim's waiter: the most
// of what they say, since each may have missed some of it. at is where the count
// stands in their replies.
func (t *tally) waited(code string, at int) (contentions int, since int64) {
	for _, v := range t.votes {
		if v.err != nil || v.reply.code != code {
			continue
		}
		if s := v.reply.number(at + 1); s > 0 && (since == 0 || s < since) {
			since = s
		}
		contentions = max(contentions, int(v.reply.number(at)))
	}
	return contentions, since
}

// abandoned reports whether, on any key, the highest tenure that the grants
// displaced died without a word. Of two answers on one token, "released" is the
// better informed.
func (t *tally) abandoned(keys int) bool {
	for k := range keys {
		var token int64
		died := false
		for _, v := range t.votes {
			if !t.granted(v) {
				continue
			}
			displaced, dead := v.reply.number(3+2*k), v.reply.number(4+2*k) == 2
			switch {
			case displaced > token:
				token, died = displaced, dead
			case displaced == token:
				died = died && dead
			}
		}
		if died {
			return true
		}
	}
	return false
}
