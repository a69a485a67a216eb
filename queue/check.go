package queue

import (
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/holdfastjobs/holdfast"
)

// Asynq rewrites some of these in silence: it takes a timeout below a second
// for its own default and a retention below a second for none, and it cuts
// both, and the time of a delayed run, to whole seconds. Nothing that it would
// rewrite gets past here.
const (
	maxQueueLen    = 100
	maxTimeout     = 30 * 24 * time.Hour
	maxSpan        = 365 * 24 * time.Hour // of retention and delay
	maxMaxAttempts = 1000
)

// refuse returns a FieldError if bad is true. It is of type error, so that
// cmp.Or can find the first of several.
func refuse(bad bool, field string, value any, want string) error {
	if !bad {
		return nil
	}
	return &holdfast.FieldError{Room: "queue", Field: field, Value: value, Want: want}
}

// checkQueue refuses braces because they would move the hash tag of the queue's
// keys, and slashes because asynq's web page has the name in its paths.
func checkQueue(name string) error {
	outside := func(r rune) bool {
		return strings.ContainsRune("{}/", r) || unicode.IsSpace(r) || !unicode.IsPrint(r)
	}
	bad := name == "" || len(name) > maxQueueLen || !utf8.ValidString(name) || strings.ContainsFunc(name, outside)
	return refuse(bad, "Queue", name, "1 to 100 bytes of printable UTF-8 without space, slash or brace")
}

func checkTimeout(d time.Duration) error {
	return refuse(d < time.Second || d > maxTimeout, "Timeout", d, "1s to 720h")
}

func checkRetention(d time.Duration) error {
	return refuse(d != 0 && d < time.Second || d > maxSpan, "Retention", d, "0, or 1s to 8760h")
}

func checkMaxAttempts(n int) error {
	return refuse(n < 1 || n > maxMaxAttempts, "MaxAttempts", n, "1 to 1000")
}

// checkName checks kind and job ID by the rules of the root package and answers
// in the name of this one.
func checkName(err error) error {
	if e, ok := errors.AsType[*holdfast.FieldError](err); ok {
		return refuse(true, e.Field, e.Value, e.Want)
	}
	return err
}

func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

func nextWholeSecond(t time.Time) time.Time {
	return t.Add(time.Second - 1).Truncate(time.Second)
}
