package holdfast

import (
	"fmt"
	"strconv"
	"time"
)

// Envelope is what travels beside a payload, in the headers of its message, from
// the queue to the worker.
type Envelope struct {
	JobID       string
	Nonce       string // one per enqueue call: the same call, sent twice, is one
	Hash        string // [PayloadHash]
	EnqueuedAt  time.Time
	Timeout     time.Duration
	Deadline    time.Time // zero is none
	MaxAttempts int
}

// The header names. Trace context travels beside them under its own names.
const (
	HeaderJobID       = "holdfast-job-id"
	HeaderNonce       = "holdfast-nonce"
	HeaderHash        = "holdfast-payload-hash"
	HeaderEnqueuedAt  = "holdfast-enqueued-at"
	HeaderTimeout     = "holdfast-timeout"
	HeaderDeadline    = "holdfast-deadline"
	HeaderMaxAttempts = "holdfast-max-attempts"
)

// Write puts the envelope into headers.
func (e Envelope) Write(headers map[string]string) {
	headers[HeaderJobID] = e.JobID
	headers[HeaderNonce] = e.Nonce
	headers[HeaderHash] = e.Hash
	headers[HeaderEnqueuedAt] = e.EnqueuedAt.UTC().Format(time.RFC3339Nano)
	headers[HeaderTimeout] = e.Timeout.String()
	headers[HeaderMaxAttempts] = strconv.Itoa(e.MaxAttempts)
	if !e.Deadline.IsZero() {
		headers[HeaderDeadline] = e.Deadline.UTC().Format(time.RFC3339Nano)
	}
}

// ReadEnvelope is the inverse of [Envelope.Write]. It reports false when another
// producer wrote the headers, and an error that names the header when ours do
// not parse.
func ReadEnvelope(headers map[string]string) (Envelope, bool, error) {
	id, ours := headers[HeaderJobID]
	if !ours {
		return Envelope{}, false, nil
	}
	e := Envelope{JobID: id, Nonce: headers[HeaderNonce], Hash: headers[HeaderHash]}
	read := func(name string, parse func(string) error) error {
		if err := parse(headers[name]); err != nil {
			return fmt.Errorf("holdfast: header %s: %w", name, err)
		}
		return nil
	}
	err := read(HeaderEnqueuedAt, func(s string) (err error) { e.EnqueuedAt, err = time.Parse(time.RFC3339Nano, s); return })
	if err == nil {
		err = read(HeaderTimeout, func(s string) (err error) { e.Timeout, err = time.ParseDuration(s); return })
	}
	if err == nil {
		err = read(HeaderMaxAttempts, func(s string) (err error) { e.MaxAttempts, err = strconv.Atoi(s); return })
	}
	if _, has := headers[HeaderDeadline]; has && err == nil {
		err = read(HeaderDeadline, func(s string) (err error) { e.Deadline, err = time.Parse(time.RFC3339Nano, s); return })
	}
	return e, true, err
}
