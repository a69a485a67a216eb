package redlock

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// historyTrial is one run whose history is judged.
type historyTrial struct {
	rig      func(testing.TB, int, ...string) rig
	args     []string      // of the servers
	clocks   time.Duration // how far apart the nodes' clocks wander; 0 is not at all
	finishes bool          // completions, too

	fencedOnly bool // exclusion is not promised
}

func (c historyTrial) model() porcupine.Model {
	if c.fencedOnly {
		return lockModel(fenced)
	}
	return lockModel(exclusive)
}

var onDisk = []string{"--appendonly", "yes", "--appendfsync", "always"}

// Margin is a tenth of the TTL of a second.
var historyTrials = map[string]historyTrial{
	"memory":                  {rig: newRig},
	"disk and completions":    {rig: newRig, args: onDisk, finishes: true},
	"clocks within margin":    {rig: newClockRig, args: onDisk, clocks: 90 * time.Millisecond},
	"clocks beyond, so fence": {rig: newClockRig, clocks: 6 * time.Second, fencedOnly: true},
}

// record runs workers against a nemesis for so long, and on a loaded machine for
// longer, until there is enough to judge by.
func (c historyTrial) record(t *testing.T, lasts, longest time.Duration) *journal {
	t.Helper()
	const workers, slots, enough = 8, 3, 20
	r := c.rig(t, 3, c.args...)
	doors := []door{r.door(t), r.door(t)}
	rigLocker(t, r.direct())
	ctx, cancel := context.WithTimeout(t.Context(), 10*lasts)
	defer cancel()
	faults := r.faults(t.Context(), doors[1])
	if r.forgetful {
		faults = map[string]nodeFault{"records vanish": r.vanish(t.Context())}
	}
	if c.clocks > 0 {
		faults["clock"] = r.clockFault(c.clocks)
	}
	j, done := newJournal(), 0
	allAtOnce(workers+2, func(i int) {
		switch i {
		case workers:
			done = torment(ctx, t, len(r.servers), faults, longest)
			return
		case workers + 1:
			for more := rest(ctx, lasts); more && j.released() < enough; {
				more = rest(ctx, 50*time.Millisecond)
			}
			cancel()
			return
		}
		worker{tb: t, id: i, j: j, slots: slots, finishes: c.finishes, open: func() *Locker {
			return newLocker(t, doors[i%len(doors)].nodes, shortly)
		}}.run(ctx)
	})
	t.Logf("%d faults; tenures: %v", done, j.ended)
	if j.released() < enough || done == 0 {
		t.Error("too little happened to judge by")
	}
	return j
}

// accepted judges every key's history.
func (c historyTrial) accepted(t *testing.T, j *journal) {
	t.Helper()
	for key, ops := range j.ops {
		got, info := porcupine.CheckOperationsVerbose(c.model(), ops, time.Minute)
		if got != porcupine.Ok {
			t.Errorf("%s: %s: of %d operations%s", key, got, len(ops), unexplained(ops, info))
		}
	}
}

// unexplained tells how far a history makes sense, and what follows.
func unexplained(ops []porcupine.Operation, info porcupine.LinearizationInfo) (text string) {
	var longest []int
	for _, partition := range info.PartialLinearizations() {
		for _, order := range partition {
			if len(order) > len(longest) {
				longest = order
			}
		}
	}
	var rest []porcupine.Operation
	for i, o := range ops {
		if !slices.Contains(longest, i) {
			rest = append(rest, o)
		}
	}
	slices.SortFunc(rest, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	text = fmt.Sprintf(" %d make sense, the last of them\n", len(longest))
	for _, i := range longest[max(0, len(longest)-5):] {
		text += describeOp(ops[i])
	}
	text += "and these do not follow\n"
	for _, o := range rest[:min(5, len(rest))] {
		text += describeOp(o)
	}
	return text
}

// The control of the whole apparatus: nodes that forget what they granted, where
// no gate can see it, are found out.
func TestTheHistoryOfNodesThatForgetIsRefused(t *testing.T) {
	t.Parallel()
	c := historyTrial{rig: func(tb testing.TB, n int, args ...string) rig {
		r := newRig(tb, n, args...)
		r.forgetful = true
		return r
	}}
	for _, ops := range c.record(t, 1500*time.Millisecond, 50*time.Millisecond).ops {
		if porcupine.CheckOperationsTimeout(c.model(), ops, time.Minute) == porcupine.Illegal {
			return
		}
	}
	t.Error("accepted")
}

func TestHistoriesAreAccepted(t *testing.T) {
	t.Parallel()
	for name, c := range historyTrials {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := c.record(t, 2*time.Second, 150*time.Millisecond)
			c.accepted(t, j)
			c.violationsAreRefused(t, j)
		})
	}
}
