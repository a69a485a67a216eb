package holdfast

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Args is the payload of a job: a plain struct that encoding/json can carry.
type Args interface {
	// Kind names the handler. It matches [a-z0-9._-]{1,64} and must answer on
	// the zero value.
	Kind() string

	// JobID is the job's idempotency key, unique within its kind: two jobs of
	// one kind and one ID are one job. "" means that every enqueue is a job of
	// its own, under a fresh ID. It is part of Args so that a misspelt method
	// is a compile error and not a missing guarantee.
	JobID() string
}

// The longest kind and job ID, in bytes.
const (
	MaxKindLen  = 64
	MaxJobIDLen = 200
)

const (
	kindRange  = "1 to 64 of [a-z0-9._-]"
	jobIDRange = "1 to 200 bytes of printable UTF-8 without space or slash"
)

// CheckKind reports, as a [FieldError], why kind cannot name a handler.
func CheckKind(kind string) error {
	outside := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-')
	}
	if kind == "" || len(kind) > MaxKindLen || strings.ContainsFunc(kind, outside) {
		return &FieldError{Field: "Kind", Value: kind, Want: kindRange}
	}
	return nil
}

// CheckJobID reports, as a [FieldError], why id cannot be an idempotency key.
func CheckJobID(id string) error {
	outside := func(r rune) bool { return r == '/' || unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if id == "" || len(id) > MaxJobIDLen || !utf8.ValidString(id) || strings.ContainsFunc(id, outside) {
		return &FieldError{Field: "JobID", Value: id, Want: jobIDRange}
	}
	return nil
}

// JobKey is the lock key and the record key of a job: j/<kind>/<id>.
func JobKey(kind, id string) string { return "j/" + kind + "/" + id }
