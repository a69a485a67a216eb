package holdfast_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast"
	"pgregory.net/rapid"
)

func TestEnvelopeReadsWhatItWrote(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := holdfast.Envelope{
			JobID:       rapid.StringMatching(`[a-z0-9_]{1,20}`).Draw(t, "id"),
			Nonce:       rapid.StringMatching(`[a-f0-9]{8}`).Draw(t, "nonce"),
			Hash:        holdfast.PayloadHash([]byte(rapid.String().Draw(t, "payload"))),
			EnqueuedAt:  time.Unix(0, rapid.Int64Range(0, 1<<61).Draw(t, "enqueued")).UTC(),
			Timeout:     time.Duration(rapid.Int64Range(0, 1<<50).Draw(t, "timeout")),
			MaxAttempts: rapid.IntRange(1, 1000).Draw(t, "attempts"),
		}
		if rapid.Bool().Draw(t, "has deadline") {
			want.Deadline = time.Unix(rapid.Int64Range(1, 1<<33).Draw(t, "deadline"), 0).UTC()
		}
		headers := map[string]string{}
		want.Write(headers)
		got, ours, err := holdfast.ReadEnvelope(headers)
		if err != nil || !ours || got != want {
			t.Fatalf("read %+v, %v, %v; wrote %+v", got, ours, err, want)
		}
	})
}

func TestEnvelopeOfAnotherProducerIsNotOurs(t *testing.T) {
	t.Parallel()
	for _, headers := range []map[string]string{nil, {}, {"traceparent": "00-…"}} {
		if _, ours, err := holdfast.ReadEnvelope(headers); ours || err != nil {
			t.Errorf("ReadEnvelope(%v): ours %v, error %v", headers, ours, err)
		}
	}
}

func TestBrokenEnvelopeNamesTheHeader(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		holdfast.HeaderEnqueuedAt, holdfast.HeaderTimeout, holdfast.HeaderMaxAttempts, holdfast.HeaderDeadline,
	} {
		headers := map[string]string{}
		holdfast.Envelope{JobID: "a", Deadline: time.Now()}.Write(headers)
		headers[name] = "x"
		if _, ours, err := holdfast.ReadEnvelope(headers); !ours || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s broken: ours %v, error %v", name, ours, err)
		}
	}
}
