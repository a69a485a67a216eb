package redlock

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfastjobs/holdfast"
)

// note keeps the completion record of the highest token that any answer showed:
// of two, the newer knows better. It is called with mu held.
func (a *attempt) note(t *tally) {
	for _, text := range t.records() {
		c, err := parseDone(text)
		if err == nil && c.record.Token > a.record.record.Token {
			a.record = c
		}
	}
}

// doneError answers a claim whose record a majority keeps: with that one, whatever
// a minority has.
func (a *attempt) doneError(t *tally) error {
	a.mu.Lock()
	text, _ := t.record()
	a.mu.Unlock()
	c, err := parseDone(text)
	if err != nil {
		return err
	}
	return &DoneError{Key: a.claim.Record, Record: c.record}
}

// adopt completes a finish that reached too few nodes to count, whether its
// process died or is slow: under the new lease's token the record goes to a
// majority, and only then is the job done. It keeps its own time and result.
func (a *attempt) adopt(lease *Lease) error {
	c := a.record
	c.record.Token = lease.token
	left := max(time.Second, time.UnixMilli(c.until).Sub(time.UnixMicro(a.l.clocks.nodeNow())))
	lease.settling.Lock()
	defer lease.settling.Unlock()
	lease.last = &settlement{mode: modeFinish, done: c.text(), retention: left}
	now, _ := lease.settle()
	said := lease.conclude(now)
	outcome, err := a.l.finishOutcome(said, a.claim.Record)
	lease.last.outcome, lease.last.err = outcome, err
	if err == nil {
		return &DoneError{Key: a.claim.Record, Record: c.record}
	}
	return a.l.noQuorum("adopt", said.votes())
}

// Void makes the completion record of key void, on purpose: the job that finished
// under it may run again. It takes the key meanwhile, as any acquire, so nobody
// finishes at the same time; it waits for it until ctx ends. The void record goes
// to a majority under a newer token than the one that it takes back, and lives for
// retention, 1 s to 10 years; 0 is Config.Retention. It should outlive the record.
// A key without a record is made void too, which changes nothing.
//
// Errors are those of [Locker.Acquire], but [ErrDone], and of [Lease.Finish].
func (l *Locker) Void(ctx context.Context, key string, retention time.Duration) error {
	claim := Claim{Keys: []string{key}, Record: key, again: true}
	if err := checkRecord(claim, holdfast.Record{}, retention); err != nil {
		return err // before there is a lease that nobody would settle
	}
	lease, err := l.Acquire(ctx, claim)
	if err != nil {
		return fmt.Errorf("redlock: void %q: %w", key, err)
	}
	return lease.finish(ctx, kindVoid, holdfast.Record{}, retention)
}
