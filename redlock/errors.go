package redlock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfastjobs/holdfast"
)

// What callers branch on. The first three have types that carry more:
// [HeldError], [NoQuorumError], [DoneError]; [ErrLost] is the cause with which a
// lease's context ends, as a [LostError].
var (
	ErrHeld     = errors.New("redlock: held by another")
	ErrNoQuorum = errors.New("redlock: no majority of lock nodes")
	ErrDone     = errors.New("redlock: already done")
	ErrLost     = errors.New("redlock: lease lost")

	// ErrStale is the answer of [Lease.Finish] when the lease was not ours any
	// more: nothing was recorded on a majority. Where a minority still had the
	// lease it has the record, and the next attempt that sees it completes it.
	ErrStale = errors.New("redlock: lease is stale, completion refused")
	// ErrUnknown says that too few nodes answered to know what happened.
	ErrUnknown = errors.New("redlock: outcome unknown")
	// ErrNested is the answer to an acquire whose context carries a lease on one of
	// the keys: who waited for it would wait for itself.
	ErrNested = errors.New("redlock: the caller's own lease holds this key")
	// ErrConfig says that this process may not use the lock nodes as it is
	// configured, and that waiting would not help: a [ConfigError] or an
	// [UngatedError].
	ErrConfig = errors.New("redlock: refused for the configuration")
	// ErrClosed says that the [Locker] was closed.
	ErrClosed = errors.New("redlock: locker closed")
)

// HeldError says that another holds a key of the claim. It Is [ErrHeld].
type HeldError struct {
	Key   string
	Token int64         // the holder's
	Left  time.Duration // until the holder's grant ends, unless it is extended
	Count int           // how often this waiter met contention, this time included; 0 when it is not counted
	Since time.Time     // when it first did, by a lock node's clock; zero when it is not counted

	// Waited is how long ago that was, by the nodes' clocks throughout: this
	// process's own plays no part.
	Waited time.Duration
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("redlock: acquire %q: held under token %d for another %v", e.Key, e.Token, e.Left.Round(time.Millisecond))
}

// Is reports whether target is [ErrHeld].
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// Answer is what one lock node said.
type Answer struct {
	Node string
	// Code is the first word of the node's script reply, such as "OK", "HELD",
	// "LOW" or "QUARANTINED"; "" when the node gave none.
	Code string
	Left time.Duration // QUARANTINED only: until the node votes
	// Clock says that the answer did not count, because the node's clock has
	// stepped within MaxTTL or is alone with what it shows.
	Clock bool
	Err   error // why there is no Code; nil when there is one
}

func (a Answer) String() string {
	switch {
	case a.Err != nil:
		return a.Node + ": " + a.Err.Error()
	case a.Code == "":
		return a.Node + ": no answer yet"
	case a.Code == codeQuarantined:
		return fmt.Sprintf("%s: %s for another %v: it has restarted, or is new, and may have forgotten locks", a.Node, a.Code, a.Left.Round(time.Millisecond))
	case a.Clock:
		return a.Node + ": " + a.Code + ", without a vote: its clock stepped or is off"
	}
	return a.Node + ": " + a.Code
}

// NoQuorumError says that too few nodes answered, or agreed, to decide, and what
// each of them said, in the order of [Config.Nodes]. It Is [ErrNoQuorum], and no
// node's error: a node's timeout must not pass for the caller's own.
type NoQuorumError struct {
	Op      string // what was tried: "acquire", "adopt", "join", "ready", "record", "check", "release", "finish", "read time", "reconfigure"
	Need    int    // the majority
	Answers []Answer
}

func (e *NoQuorumError) Error() string {
	said := make([]string, len(e.Answers))
	for i, a := range e.Answers {
		said[i] = a.String()
	}
	return fmt.Sprintf("redlock: %s: %d of %d nodes are needed, and they said: %s", e.Op, e.Need, len(e.Answers), strings.Join(said, "; "))
}

// Is reports whether target is [ErrNoQuorum].
func (e *NoQuorumError) Is(target error) bool { return target == ErrNoQuorum }

// DoneError says that the job under [Claim.Record] is done: a majority of nodes
// keeps the same completion record. It Is [ErrDone].
type DoneError struct {
	Key    string
	Record holdfast.Record
}

func (e *DoneError) Error() string {
	return fmt.Sprintf("redlock: acquire %q: already done under token %d", e.Key, e.Record.Token)
}

// Is reports whether target is [ErrDone].
func (e *DoneError) Is(target error) bool { return target == ErrDone }

// ConfigError says that a lock node carries another configuration than ours: a
// grant by one rule would not be safe under the other. It Is [ErrConfig]. See
// [Reconfigure].
type ConfigError struct {
	Node         string
	Theirs, Ours string // as the node's marker and this process have it
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("redlock: node %s: it carries the configuration %q, and this process has %q", e.Node, e.Theirs, e.Ours)
}

// Is reports whether target is [ErrConfig].
func (e *ConfigError) Is(target error) bool { return target == ErrConfig }

// UngatedError says that a node does not tell its run_id, so that nobody could
// notice that it restarted and forgot its locks. [Config.Ungated] lets it in. It Is
// [ErrConfig].
type UngatedError struct {
	Node string
	Err  error // what it said to INFO server; nil when it left the field out
}

func (e *UngatedError) Error() string {
	why := "it has no such field"
	if e.Err != nil {
		why = e.Err.Error()
	}
	return fmt.Sprintf("redlock: node %s does not tell its run_id in INFO server (%s): its restarts would go unnoticed; permit the command, or set Config.Ungated", e.Node, why)
}

func (e *UngatedError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrConfig].
func (e *UngatedError) Is(target error) bool { return target == ErrConfig }

// ended says that ctx ended, as the error that callers look for and the cause
// that they gave.
func ended(ctx context.Context, op string) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return fmt.Errorf("redlock: %s: %w", op, cause)
	}
	return fmt.Errorf("redlock: %s: %w: %w", op, err, cause)
}
