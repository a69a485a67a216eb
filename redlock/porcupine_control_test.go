package redlock

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

func describeOp(o porcupine.Operation) string {
	return fmt.Sprintf("%v to %v, worker %d: %+v\n", time.Duration(o.Call), time.Duration(o.Return), o.ClientId, o.Input)
}

// violationsAreRefused is the control: a history that was accepted, with one
// violation put into it, must not be.
func (c historyTrial) violationsAreRefused(t *testing.T, j *journal) {
	t.Helper()
	violations := map[string]func(ops []porcupine.Operation, first, second int64){
		"tokens swapped": swapTokens, "a late write taken": lateWrite,
	}
	if !c.fencedOnly {
		violations["tenures overlapped"] = overlapTenures
	}
	for name, violate := range violations {
		tried := 0
		for key, ops := range j.ops {
			first, second, ok := oneAfterTheOther(ops)
			if !ok {
				continue
			}
			tried++
			bad := slices.Clone(ops)
			violate(bad, first, second)
			if got := porcupine.CheckOperationsTimeout(c.model(), bad, time.Minute); got != porcupine.Illegal {
				t.Errorf("%s in %s: %s", name, key, got)
			}
		}
		if tried == 0 {
			t.Errorf("%s: no history has two tenures to do it with", name)
		}
	}
}

// oneAfterTheOther finds the tokens of two tenures of which the first was over
// before the second was asked for, and both wrote.
func oneAfterTheOther(ops []porcupine.Operation) (first, second int64, ok bool) {
	wrote, ends := map[int64]bool{}, map[int64]int64{}
	for _, o := range ops {
		switch in := o.Input.(lockOp); in.kind {
		case opWrite:
			wrote[in.token] = wrote[in.token] || in.live
		case opEnd:
			ends[in.token] = o.Return
		}
	}
	for _, o := range ops {
		in := o.Input.(lockOp)
		if in.kind != opAcquire || !wrote[in.token] || ends[in.token] == 0 {
			continue
		}
		for token, end := range ends {
			if wrote[token] && end < o.Call {
				return token, in.token, true
			}
		}
	}
	return 0, 0, false
}

// overlapTenures lets the first tenure end when the second is at work.
func overlapTenures(ops []porcupine.Operation, first, second int64) {
	var inside int64
	for _, o := range ops {
		if in := o.Input.(lockOp); in.token == second && in.kind == opAcquire {
			inside = o.Return + 1
		}
	}
	for i, o := range ops {
		if in := o.Input.(lockOp); in.token == first && in.kind == opEnd {
			ops[i].Call, ops[i].Return = inside, max(inside, o.Return)
		}
	}
}

// swapTokens gives each of the two the other's token.
func swapTokens(ops []porcupine.Operation, first, second int64) {
	for i, o := range ops {
		in := o.Input.(lockOp)
		switch in.token {
		case first:
			in.token = second
		case second:
			in.token = first
		}
		ops[i].Input = in
	}
}

// lateWrite lets a write of the first come after all of the second, and be taken.
func lateWrite(ops []porcupine.Operation, first, second int64) {
	var last int64
	for _, o := range ops {
		if in := o.Input.(lockOp); in.token == second && in.kind == opWrite {
			last = max(last, o.Return)
		}
	}
	for i, o := range ops {
		if in := o.Input.(lockOp); in.token == first && in.kind == opWrite {
			ops[i].Input = lockOp{kind: opWrite, token: first}
			ops[i].Call, ops[i].Return = last+1, last+2
			return
		}
	}
}
