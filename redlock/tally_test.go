package redlock

import (
	"errors"
	"testing"
	"time"
)

func said(node int, code string, fields ...string) vote {
	if code == "" {
		return vote{node: node, token: 10, err: errors.New("silent")}
	}
	if code == codeDone {
		return vote{node: node, token: 10, reply: reply{code: code, record: fields[0]}}
	}
	return vote{node: node, token: 10, reply: reply{code: code, fields: fields}}
}

func TestAVerdictIsFinal(t *testing.T) {
	answers := [][]string{{codeOK, "10"}, {codeHeld}, {codeLow}, {codeDone, "1:done:0:0::"}, {codeDone, "2:done:0:0::"}, {""}}
	for _, n := range []int{1, 3, 5} {
		votes := make([]vote, n)
		var walk func(int)
		walk = func(i int) {
			if i < n {
				for _, a := range answers {
					votes[i] = said(i, a[0], a[1:]...)
					walk(i + 1)
				}
				return
			}
			last := (&tally{nodes: n, need: n/2 + 1, token: 10, votes: votes}).verdict()
			if last == undecided {
				t.Fatalf("undecided with all votes: %v", votes)
			}
			for k := range votes {
				v := (&tally{nodes: n, need: n/2 + 1, token: 10, votes: votes[:k]}).verdict()
				if v != undecided && v != again && v != adopt && v != last {
					t.Fatalf("verdict %d after %d votes, %d in the end: %v", v, k, last, votes)
				}
			}
		}
		walk(0)
	}
}

func TestVerdicts(t *testing.T) {
	ok, heldBy, low, gone := said(0, codeOK, "10"), said(0, codeHeld), said(0, codeLow), said(0, "")
	doneA, doneB := said(0, codeDone, "1:done:0:0::"), said(0, codeDone, "2:done:0:0::")
	higher := said(0, codeOK, "12")
	for name, c := range map[string]struct {
		votes []vote
		want  verdict
	}{
		"a majority of grants wins at once":                 {[]vote{ok, ok}, won},
		"one grant waits":                                   {[]vote{ok}, undecided},
		"two holders decide":                                {[]vote{heldBy, heldBy}, held},
		"a holder beside a dead node decides":               {[]vote{heldBy, gone, ok}, held},
		"a holder with a dead majority is no quorum":        {[]vote{heldBy, gone, gone}, noQuorum},
		"too low is proposed again":                         {[]vote{low, low}, again},
		"a grant of a higher proposal is no vote":           {[]vote{higher, higher}, again},
		"the same record on a majority is done":             {[]vote{doneA, doneA}, done},
		"a record on a minority lets the others decide":     {[]vote{doneA, ok, ok}, won},
		"a record on a minority is adopted":                 {[]vote{doneA, ok, gone}, adopt},
		"one record may still prove done":                   {[]vote{doneA, heldBy}, undecided},
		"two different records are not done":                {[]vote{doneA, doneB, gone}, adopt},
		"quarantine and rejoin are no votes":                {[]vote{said(0, codeQuarantined), said(0, codeRejoin), ok}, noQuorum},
		"a clock that lags is no reason to give up at once": {[]vote{said(0, codeFuture), said(0, codeFuture), ok}, again},
	} {
		if got := (&tally{nodes: 3, need: 2, token: 10, votes: c.votes}).verdict(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestAbandonedIsReadFromTheHighestDisplacedTenure(t *testing.T) {
	grant := func(displaced ...string) vote {
		return said(0, codeOK, append([]string{"10", "0", "0"}, displaced...)...)
	}
	for name, c := range map[string]struct {
		keys  int
		votes []vote
		want  bool
	}{
		"nobody before":                  {1, []vote{grant("0", "0"), grant("0", "0")}, false},
		"died":                           {1, []vote{grant("4", "2"), grant("4", "2")}, true},
		"released":                       {1, []vote{grant("4", "0"), grant("4", "0")}, false},
		"released wins a tie":            {1, []vote{grant("4", "2"), grant("4", "0")}, false},
		"released wins a tie, other way": {1, []vote{grant("4", "0"), grant("4", "2")}, false},
		"a later release hides a death":  {1, []vote{grant("4", "2"), grant("6", "0")}, false},
		"a later death hides a release":  {1, []vote{grant("6", "2"), grant("4", "0")}, true},
		"each key has its own history":   {2, []vote{grant("8", "0", "4", "2"), grant("8", "0", "4", "2")}, true},
	} {
		if got := (&tally{nodes: 3, need: 2, token: 10, votes: c.votes}).abandoned(c.keys); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestValidityIsTheMajorityThLargestEnd(t *testing.T) {
	for _, c := range []struct {
		ends []time.Duration
		want time.Duration
	}{
		{[]time.Duration{5}, 5},
		{[]time.Duration{0, 9, 4}, 4},
		{[]time.Duration{9, 0, 0}, 0},
		{[]time.Duration{7, 8, 9}, 8},
		{[]time.Duration{1, 2, 3, 4, 5}, 3},
	} {
		if got := validity(c.ends, len(c.ends)/2+1); got != c.want {
			t.Errorf("%v: %v, want %v", c.ends, got, c.want)
		}
	}
}

func TestTokensAreEvenAndNeverComeTwice(t *testing.T) {
	const bound = time.Second
	p := tokens{bound: bound}
	last := int64(0)
	for i, c := range []struct{ now, seen int64 }{{1001, 0}, {1001, 0}, {1000, 5001}, {900, 0}, {900, 900 + 2e6}, {10_000, 0}} {
		token := p.propose(c.now, c.seen)
		if token <= last || token%2 != 0 {
			t.Fatalf("step %d: %d after %d", i, token, last)
		}
		if c.seen <= c.now+bound.Microseconds() && token <= c.seen {
			t.Fatalf("step %d: %d is not above %d", i, token, c.seen)
		}
		last = token
	}
	if last > 10_002 {
		t.Fatalf("a token ahead of all clocks was followed: %d", last)
	}
}
