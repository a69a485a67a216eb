package worker

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/holdfastjobs/holdfast"
)

// log is the logger that names the job. Never its payload.
func (w *Worker) log(job *holdfast.Job) *slog.Logger {
	return w.cfg.Logger.With("kind", job.Kind, "job_id", job.ID, "queue", job.Queue, "attempt", job.Attempt)
}

// asynqLogger hands asynq's own lines to slog, each under one static message.
type asynqLogger struct{ *slog.Logger }

const asynqSays = "asynq says"

func (l asynqLogger) Debug(args ...any) { l.Logger.Debug(asynqSays, "text", fmt.Sprint(args...)) }
func (l asynqLogger) Info(args ...any)  { l.Logger.Info(asynqSays, "text", fmt.Sprint(args...)) }
func (l asynqLogger) Error(args ...any) { l.Logger.Error(asynqSays, "text", fmt.Sprint(args...)) }

// Warn leaves out what asynq says of every archive: our own line has the reason.
func (l asynqLogger) Warn(args ...any) {
	if text := fmt.Sprint(args...); !strings.HasPrefix(text, "Retry exhausted") {
		l.Logger.Warn(asynqSays, "text", text)
	}
}

// Fatal does not end the process: that is not a library's decision.
func (l asynqLogger) Fatal(args ...any) { l.Error(args...) }
