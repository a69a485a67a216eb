package redlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast"
)

// Kinds of completion records. A void one takes a done one back: it is there,
// with a newer token, and never answered as done.
const (
	kindDone = "done"
	kindVoid = "void"
)

// completion is a completion record as a node keeps it. It is the same text on
// every node, so that nodes can be compared: the time in it is one reading.
type completion struct {
	kind   string
	record holdfast.Record
}

// formatDone is "token:kind:at_ms:hash:result". The result comes last and may
// hold anything.
func formatDone(kind string, r holdfast.Record) string {
	return fmt.Sprintf("%d:%s:%d:%s:%s", r.Token, kind, r.At.UnixMilli(), r.Hash, r.Result)
}

func parseDone(text string) (completion, error) {
	parts := strings.SplitN(text, ":", 5)
	if len(parts) != 5 {
		return completion{}, errors.New("redlock: completion record: want token:kind:at_ms:hash:result")
	}
	token, err1 := strconv.ParseInt(parts[0], 10, 64)
	at, err2 := strconv.ParseInt(parts[2], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return completion{}, fmt.Errorf("redlock: completion record: %w", err)
	}
	r := holdfast.Record{Token: token, At: time.UnixMilli(at), Hash: parts[3]}
	if parts[4] != "" {
		r.Result = []byte(parts[4])
	}
	return completion{kind: parts[1], record: r}, nil
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
	name := l.doneKey(key)
	answers := l.ask(func(ctx context.Context, n *node) (reply, error) {
		text, err := n.get(ctx, name)
		if errors.Is(err, redis.Nil) {
			return reply{code: codeNone}, nil
		}
		return reply{code: codeDone, fields: []string{text}}, err
	})
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
	d, err := parseDone(text)
	if err != nil || d.kind != kindDone {
		return holdfast.Record{}, false, err
	}
	return d.record, true, nil
}
