package redlock

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The claims that are checked.
const (
	claimExclusion  = "exclusion"
	claimTokens     = "tokens"
	claimOrphans    = "orphans"
	claimCompletion = "completion"
	claimNotice     = "notice"
	notClaimed      = "exclusion, by clocks that step" // counted all the same
)

// simChecks is what an observer who sees everything has seen.
type simChecks struct {
	checking   sync.Mutex
	begins     map[string]int64 // step in which an attempt began, by its nonce
	tenures    []*simTenure     // that are not over, or were not when they were looked at last
	fences     map[string][]simFence
	completion simCompletion
	orphans    simOrphans
	violations map[string]int
	counts     simCounts
	resumed    time.Duration // when the last suspend ended, as timers count
}

type simCounts struct{ acquired, repaired, adopted, restarts, lost int }

// simFence is a token, and in which step its tenure was won.
type simFence struct{ token, won int64 }

// simTenure is a lease, and what its owner cannot know.
type simTenure struct {
	c      *simClient
	claim  Claim
	lease  *Lease
	began  int64
	won    int64
	over   atomic.Int64 // how long after validity the context ended; less than 0 if before
	ended  atomic.Int64 // when, as timers count
	caught bool         // in a violation, which counts once
}

// timers is the time that timers count.
func (t *simTime) timers() time.Duration { return time.Since(t.start) }

func (w *simWorld) violate(claim, format string, args ...any) {
	if w.violations == nil {
		w.violations = map[string]int{}
	}
	w.violations[claim]++
	w.say("VIOLATION of %s: %s", claim, fmt.Sprintf(format, args...))
}

// began notes that an attempt begins.
func (w *simWorld) began(nonce string) {
	w.checking.Lock()
	defer w.checking.Unlock()
	if w.begins == nil {
		w.begins = map[string]int64{}
	}
	w.begins[nonce] = w.steps.Load()
}

// won notes a new tenure, and holds its token against all before it.
func (w *simWorld) won(c *simClient, claim Claim, lease *Lease) *simTenure {
	w.checking.Lock()
	defer w.checking.Unlock()
	t := &simTenure{c: c, claim: claim, lease: lease, began: w.begins[lease.try.nonce], won: w.steps.Load()}
	w.counts.acquired++
	for _, key := range claim.Keys {
		w.fence(key, t)
	}
	w.complete(t)
	w.tenures = append(w.tenures, t)
	context.AfterFunc(lease.Context(), func() {
		t.over.Store(int64(c.clock.Now() - lease.end()))
		t.ended.Store(int64(w.timers()))
	})
	return t
}

// fence checks claim 1: all tokens of a key differ, and that of a tenure is above
// those of all that were won before it began.
func (w *simWorld) fence(key string, t *simTenure) {
	for _, f := range w.fences[key] {
		if f.token == t.lease.token || f.won < t.began && f.token > t.lease.token {
			w.violate(claimTokens, "%q under %d, and under %d before", key, t.lease.token, f.token)
		}
	}
	w.learn(key, t.lease.token)
}

func (w *simWorld) learn(key string, token int64) {
	if w.fences == nil {
		w.fences = map[string][]simFence{}
	}
	w.fences[key] = append(w.fences[key], simFence{token, w.steps.Load()})
}

// valid says that the holder believes in its tenure, and has reason to.
func (t *simTenure) valid() bool {
	return t.lease.Context().Err() == nil && t.c.clock.Now() < t.lease.end()
}

// check looks at all tenures after a step. Between two steps nothing is delivered,
// so a tenure may end there, but none begins.
func (w *simWorld) check() {
	w.checking.Lock()
	defer w.checking.Unlock()
	for i, t := range w.tenures {
		w.notice(t)
		for _, o := range w.tenures[:i] {
			both := t.valid() && o.valid() && slices.ContainsFunc(t.claim.Keys, func(k string) bool { return slices.Contains(o.claim.Keys, k) })
			if both && !t.caught {
				t.caught = true
				w.violate(w.excluded(), "%d and %d, both valid", o.lease.token, t.lease.token)
			}
		}
	}
	w.tenures = slices.DeleteFunc(w.tenures, func(t *simTenure) bool {
		over := t.lease.Context().Err() != nil && (t.lease.isSettled() || t.lease.Err() != nil)
		if over {
			w.orphans.end(t.lease.try.nonce, w.now()+t.lease.end()-t.c.clock.Now())
		}
		if t.lease.Err() != nil {
			w.counts.lost++
		}
		return over
	})
}

// excluded is the claim that two valid tenures break. Where clocks step as they
// like none does: tokens are what is left then.
func (w *simWorld) excluded() string {
	if w.clocks == clocksJumpy {
		return notClaimed
	}
	return claimExclusion
}

// slack is for clocks that run faster than timers.
const slack = time.Millisecond

// notice checks claim 3: the context ends before validity does, or on the first
// tick after its process runs again.
func (w *simWorld) notice(t *simTenure) {
	over, ended := time.Duration(t.over.Load()), time.Duration(t.ended.Load())
	if ended == 0 {
		over, ended = t.c.clock.Now()-t.lease.end(), w.timers()
	}
	if over > slack && (ended > w.resumed+longestTick || w.strict) && !t.caught {
		t.caught = true
		w.violate(claimNotice, "%d: its context lives %v after its validity", t.lease.token, over)
	}
}
