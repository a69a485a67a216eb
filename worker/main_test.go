package worker_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// After a DrainError asynq ends behind Run's back, and says good-bye to a Redis
// that its test has stopped: that takes some seconds, and no longer.
func TestMain(m *testing.M) {
	code := m.Run()
	for deadline := time.Now().Add(20 * time.Second); code == 0; {
		leaked := goleak.Find()
		if leaked == nil {
			break
		}
		if time.Now().After(deadline) {
			fmt.Println("goleak:", leaked)
			code = 1
		}
	}
	os.Exit(code)
}
