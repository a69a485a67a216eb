package lock

import (
	"context"

	"github.com/holdfastjobs/holdfast"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// counters are this room's metrics; the lock's own are redlock's.
type counters struct {
	duplicates metric.Int64Counter
}

func newCounters(t holdfast.Telemetry) counters {
	duplicates, err := t.Meter().Int64Counter("holdfast.job.duplicates",
		metric.WithUnit("{job}"),
		metric.WithDescription("Deliveries that were acknowledged without running, because the job was done."))
	if err != nil {
		otel.Handle(err)
	}
	return counters{duplicates: duplicates}
}

func (c counters) duplicate(ctx context.Context, kind string) {
	c.duplicates.Add(ctx, 1, metric.WithAttributes(holdfast.AttrJobKind.String(kind)))
}
