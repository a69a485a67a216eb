package redlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfastjobs/holdfast"
)

// Kinds of completion records. A void one takes a done one back: it is there,
// with a newer token, and never answered as done.
const (
	kindDone = "done"
	kindVoid = "void"
)

// completion is a completion record as a node keeps it. It is the same text on
// every node, so that nodes can be compared: the times in it are one reading.
type completion struct {
	kind   string
	until  int64 // when its retention is over, in milliseconds: who adopts it keeps that
	record holdfast.Record
}

// text is "token:kind:at_ms:until_ms:hash:result". The result comes last and may
// hold anything.
func (c completion) text() string {
	r := c.record
	return fmt.Sprintf("%d:%s:%d:%d:%s:%s", r.Token, c.kind, r.At.UnixMilli(), c.until, r.Hash, r.Result)
}

func parseDone(text string) (completion, error) {
	parts := strings.SplitN(text, ":", 6)
	if len(parts) != 6 {
		return completion{}, errors.New("redlock: completion record: want token:kind:at_ms:until_ms:hash:result")
	}
	var numbers [3]int64
	for i, at := range []int{0, 2, 3} {
		n, err := strconv.ParseInt(parts[at], 10, 64)
		if err != nil {
			return completion{}, fmt.Errorf("redlock: completion record: %w", err)
		}
		numbers[i] = n
	}
	r := holdfast.Record{Token: numbers[0], At: time.UnixMilli(numbers[1]), Hash: parts[4]}
	if parts[5] != "" {
		r.Result = []byte(parts[5])
	}
	return completion{kind: parts[1], until: numbers[2], record: r}, nil
}

func checkRecord(c Claim, r holdfast.Record, retention time.Duration) error {
	switch {
	case c.Record == "":
		return bad("Claim.Record", "", "a key, to finish a claim")
	case len(r.Hash) > 128 || strings.ContainsRune(r.Hash, ':'):
		return bad("Record.Hash", r.Hash, "at most 128 bytes without a colon")
	case len(r.Result) > holdfast.MaxResult:
		return bad("Record.Result", fmt.Sprintf("%d bytes", len(r.Result)), "at most 64 KiB")
	case retention != 0:
		return within("retention", retention, time.Second, 3650*day)
	}
	return nil
}

// Record returns the completion record of key when a majority of nodes keeps the
// same one, and false when no record can be on a majority: nobody has finished,
// a finish reached too few nodes to count, or it was made void. Anything else is
// a [NoQuorumError]: nodes that are silent could make the difference. Other
// errors: a field error, [ErrClosed], ctx's own.
//
// It implements [holdfast.Records].
//
// [holdfast.Records]: https://pkg.go.dev/github.com/holdfastjobs/holdfast#Records
func (l *Locker) Record(ctx context.Context, key string) (holdfast.Record, bool, error) {
	if !isKey(key) {
		return holdfast.Record{}, false, bad("key", key, keyRange)
	}
	if err := l.enter(); err != nil {
		return holdfast.Record{}, false, err
	}
	defer l.leave()
	answers := l.ask("GET", l.doneKey(key))
	text, committed := "", false
	err := l.collect(ctx, "record", answers, func(seen []vote, pending int) bool {
		var keepers int
		text, keepers = (&tally{votes: seen}).record()
		committed = keepers >= l.need
		silent := pending + len(seen) - count(seen, codeNone) - count(seen, codeDone)
		return committed || keepers+silent < l.need
	})
	if err != nil || !committed {
		return holdfast.Record{}, false, err
	}
	c, err := parseDone(text)
	if err != nil || c.kind != kindDone {
		return holdfast.Record{}, false, err
	}
	return c.record, true, nil
}
