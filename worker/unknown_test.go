package worker_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/worker"
)

func TestAnUnknownKindWaitsForItsWorker(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		old := b.worker(b.config())
		worker.Handle(old, func(context.Context, chargeV2) error { return nil })
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
		stop := b.start(old)
		if got := b.until(id, asynq.TaskStateRetry).LastErr; !strings.HasPrefix(got, `worker: no handler for this kind: "payments.charge" since 2`) {
			t.Errorf("last error %q", got)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		young := b.worker(b.config())
		worker.Handle(young, func(context.Context, charge) error { return nil })
		b.start(young)
		if info := b.until(id, asynq.TaskStateCompleted); info.Retried != 0 {
			t.Errorf("retried %d", info.Retried)
		}
	})
}

func TestAKindThatStaysUnknownIsArchivedAfterUnknownFor(t *testing.T) {
	inNoTime(t, func(t *testing.T, b *bundle) {
		var dead deaths
		var lines bytes.Buffer
		cfg := b.config()
		cfg.UnknownFor = 5 * time.Minute
		cfg.OnDead, cfg.Logger = dead.hear, slog.New(slog.NewTextHandler(&lines, nil))
		w := b.worker(cfg)
		worker.Handle(w, func(context.Context, chargeV2) error { return nil })
		began := time.Now()
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
		stop := b.start(w)
		b.until(id, asynq.TaskStateArchived)
		if took := time.Since(began); took < cfg.UnknownFor-time.Second || took > cfg.UnknownFor+70*time.Second {
			t.Errorf("archived after %s", took)
		}
		if _, err := dead.only(t); !errors.Is(err, worker.ErrUnknownKind) {
			t.Error(err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got := strings.Count(lines.String(), "no handler for this kind"); got != 2 { // the warning, and the archive's reason
			t.Errorf("%d log lines: %s", got, &lines)
		}
	})
}

func TestATypeThatCanBeNoKindIsSaidToBeNoneAndStillWaits(t *testing.T) {
	inNoTime(t, func(t *testing.T, b *bundle) {
		const note = "not a kind, [a-z0-9._-]{1,64}; no worker can ever register it"
		var dead deaths
		var lines bytes.Buffer
		cfg := b.config()
		cfg.UnknownFor = 5 * time.Minute
		cfg.OnDead, cfg.Logger = dead.hear, slog.New(slog.NewTextHandler(&lines, nil))
		w := b.worker(cfg)
		worker.Handle(w, func(context.Context, charge) error { return nil })
		began := time.Now()
		id := b.enqueueRaw("email:deliver", []byte("{}"), holdfast.Envelope{})
		stop := b.start(w)
		if got := b.until(id, asynq.TaskStateRetry).LastErr; !strings.HasPrefix(got, `worker: no handler for this kind: "email:deliver" since 2`) || !strings.HasSuffix(got, note) {
			t.Errorf("last error %q", got)
		}
		b.until(id, asynq.TaskStateArchived)
		if took := time.Since(began); took < cfg.UnknownFor-time.Second || took > cfg.UnknownFor+70*time.Second {
			t.Errorf("archived after %s", took)
		}
		if _, err := dead.only(t); !errors.Is(err, worker.ErrUnknownKind) || !strings.HasSuffix(err.Error(), note) {
			t.Error(err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got := strings.Count(lines.String(), note); got != 2 { // the warning, and the archive's reason
			t.Errorf("%d log lines: %s", got, &lines)
		}
	})
}
