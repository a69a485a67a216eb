package redlock

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// The history of one key is made of these.
const (
	opAcquire = "acquire" // got a lease under the token
	opWrite   = "write"   // an effect that carried the token, as a database sees it
	opEnd     = "end"     // released, lost or crashed
	opFinish  = "finish"  // released with a completion record
	opDone    = "done"    // was told that the job is done
)

// lockOp is what was asked and what came of it.
type lockOp struct {
	kind    string
	token   int64
	live    bool // a write: the lease's context was live when it had returned
	refused bool // a write: the database had seen a higher token
	unsure  bool // a finish: too few nodes answered
}

// lockState is the lock as it would be if one thing happened after the other.
type lockState struct {
	holder  int64 // the token that is valid, 0 for none
	last    int64 // the highest that ever was
	written int64 // the highest that the database took
	done    bool
	maybe   bool // a finish of unknown outcome: it may be done
}

// exclusive is the lock as promised while the nodes' clocks stay within the
// margin: at most one tenure is valid, from some moment of the acquire to some
// moment between the last look at its live context and its end; tokens increase;
// what a live holder writes is never refused; after a completion nobody runs.
func exclusive(s lockState, o lockOp) (bool, lockState) {
	switch o.kind {
	case opAcquire:
		legal := s.holder == 0 && o.token > s.last && !s.done
		s.holder, s.last = o.token, o.token
		return legal, s
	case opWrite:
		ordered, next := fenced(s, o)
		return ordered && (!o.live || s.holder == o.token && !o.refused), next
	case opEnd:
		legal := s.holder == o.token
		s.holder = 0
		return legal, s
	case opFinish:
		legal := s.holder == o.token && !s.done
		s.holder, s.done, s.maybe = 0, !o.unsure, o.unsure
		return legal, s
	case opDone:
		legal := s.done || s.maybe
		s.done = true
		return legal, s
	}
	return false, s
}

// fenced is what remains when clocks jump: tokens increase, and the database
// refuses whoever was overtaken.
func fenced(s lockState, o lockOp) (bool, lockState) {
	switch o.kind {
	case opAcquire:
		legal := o.token > s.last
		s.last = o.token
		return legal, s
	case opWrite:
		legal := o.refused == (o.token < s.written)
		s.written = max(s.written, o.token)
		return legal, s
	}
	return true, s
}

func lockModel(step func(lockState, lockOp) (bool, lockState)) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return lockState{} },
		Step: func(state, input, _ any) (bool, any) {
			legal, next := step(state.(lockState), input.(lockOp))
			return legal, next
		},
		DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
		DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
	}
}
