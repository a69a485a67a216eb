package workertest_test

import (
	"context"
	"fmt"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/worker/workertest"
)

type Mail struct{ To string }

func (Mail) Kind() string    { return "mail" }
func (m Mail) JobID() string { return m.To }

// A mail is sent, its worker loses the lock in the middle, and the job comes again.
func Example() {
	var lock workertest.Lock
	send := func(ctx context.Context, m Mail) error {
		lock.Lose(nil) // as if another worker had taken over
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return holdfast.SetResult(ctx, "sent")
	}
	report := workertest.Run(context.Background(), workertest.NewJob(Mail{To: "ada"}), send, lock.Middleware)
	fmt.Println(report.Verdict.Kind, report.Verdict.Delay, report.AskedForToken)
	// Output: later 1s false
}
