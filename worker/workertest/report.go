package workertest

import (
	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
)

// Report is what became of a delivery.
type Report struct {
	// Verdict is what the queue would be told: KindDone acknowledges; KindRetry is a
	// counted failure and KindLater is none, each tried again after Delay; KindNever
	// archives.
	Verdict retry.Verdict
	// Err is why; nil when it is done.
	Err error

	Ran    bool            // the handler was called
	Tenure holdfast.Tenure // that it was called under; zero without one
	// AskedForToken says that the handler, or what it called, read the tenure from
	// the context: nothing that did not can have written the token.
	AskedForToken bool
	// Result is the job's, of the handler or, for a duplicate, of the record.
	Result []byte
}

// TB is what an assertion needs of a *testing.T.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Want reports an error to t unless the verdict is of this kind.
func (r Report) Want(t TB, kind retry.Kind) {
	t.Helper()
	if r.Verdict.Kind != kind {
		t.Errorf("the verdict is %v (%v), want %v", r.Verdict.Kind, r.Err, kind)
	}
}

// WantToken reports an error to t unless the handler ran under a tenure and asked for
// it: a handler that writes without its token is not guarded against an older holder.
func (r Report) WantToken(t TB) {
	t.Helper()
	switch {
	case !r.Ran:
		t.Errorf("the handler did not run (%v)", r.Err)
	case r.Tenure.Token == 0:
		t.Errorf("the handler ran without a tenure: put a Lock's Middleware around it")
	case !r.AskedForToken:
		t.Errorf("the handler did not ask for its token")
	}
}
