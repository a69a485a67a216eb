package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
)

// traced enqueues, under a producer's span, a job whose handler answers with
// the errors in turn and nil after them, and returns the producer's span and
// those of the worker.
func traced(t *testing.T, b *bundle, sameTrace bool, answers ...error) (producer trace.SpanContext, spans tracetest.SpanStubs, metrics metricdata.ResourceMetrics) {
	t.Helper()
	spanned, reader := tracetest.NewInMemoryExporter(), sdkmetric.NewManualReader()
	telemetry := holdfast.Telemetry{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spanned)),
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
		SameTrace:      sameTrace,
	}
	cfg := b.config()
	cfg.Telemetry = telemetry
	w := b.worker(cfg)
	worker.Handle(w, func(context.Context, charge) error {
		if len(answers) == 0 {
			return nil
		}
		err := answers[0]
		answers = answers[1:]
		return err
	})

	ctx, send := telemetry.Tracer().Start(t.Context(), "send default")
	payload, err := json.Marshal(charge{ID: "ch_1"})
	if err != nil {
		t.Fatal(err)
	}
	headers := make(map[string]string)
	holdfast.Envelope{JobID: "ch_1", EnqueuedAt: time.Now(), MaxAttempts: 2}.Write(headers)
	telemetry.Inject(ctx, headers)
	info, err := b.client.Enqueue(asynq.NewTaskWithHeaders("payments.charge", payload, headers),
		asynq.TaskID("payments.charge:ch_1"), asynq.MaxRetry(4), asynq.Retention(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	stop := b.start(w)
	b.eventually(func() bool {
		state := b.entry(info.ID).State
		return state == asynq.TaskStateCompleted || state == asynq.TaskStateArchived
	}, func() any { return b.entry(info.ID) })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if err := reader.Collect(t.Context(), &metrics); err != nil {
		t.Fatal(err)
	}
	return send.SpanContext(), spanned.GetSpans(), metrics
}

func attributes(s tracetest.SpanStub) map[attribute.Key]any {
	m := make(map[attribute.Key]any)
	for _, kv := range s.Attributes {
		m[kv.Key] = kv.Value.AsInterface()
	}
	return m
}

func TestEachDeliveryIsATraceOfItsOwnLinkedToTheProducer(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		producer, spans, _ := traced(t, b, false, retry.Later(errors.New("held"), time.Second), errors.New("declined"))
		want := []struct {
			outcome, errorType any
			status             codes.Code
			attempt            int64
		}{
			{"later", nil, codes.Unset, 1},
			{"failed", "*errors.errorString", codes.Error, 1},
			{"done", nil, codes.Unset, 2},
		}
		if len(spans) != len(want) {
			t.Fatalf("%d spans", len(spans))
		}
		for i, s := range spans {
			if s.Name != "process default" || s.SpanKind != trace.SpanKindConsumer || s.Parent.IsValid() {
				t.Errorf("%s, kind %s, parent %v", s.Name, s.SpanKind, s.Parent)
			}
			if len(s.Links) != 1 || s.Links[0].SpanContext.SpanID() != producer.SpanID() || s.SpanContext.TraceID() == producer.TraceID() {
				t.Errorf("links %v", s.Links)
			}
			got := attributes(s)
			if got["holdfast.job.outcome"] != want[i].outcome || got["error.type"] != want[i].errorType || s.Status.Code != want[i].status || got["holdfast.job.attempt"] != want[i].attempt {
				t.Errorf("span %d: %v, %v", i, got, s.Status)
			}
			if got["messaging.system"] != "asynq" || got["messaging.operation.type"] != "process" || got["messaging.operation.name"] != "process" ||
				got["messaging.destination.name"] != "default" || got["messaging.message.id"] != "payments.charge:ch_1" || got["holdfast.job.kind"] != "payments.charge" {
				t.Errorf("span %d: %v", i, got)
			}
		}
	})
}

func TestADeliveryIsAChildOfItsProducerOnRequest(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		producer, spans, _ := traced(t, b, true)
		if s := spans[0]; s.Parent.SpanID() != producer.SpanID() || len(s.Links) != 0 {
			t.Errorf("parent %v, links %v", s.Parent, s.Links)
		}
	})
}

func TestMetricsCarryNoID(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		_, _, metrics := traced(t, b, false, retry.Never(context.DeadlineExceeded))
		labels := attribute.NewSet(
			attribute.String("messaging.system", "asynq"),
			attribute.String("messaging.operation.name", "process"),
			attribute.String("messaging.destination.name", "default"),
			attribute.String("holdfast.job.kind", "payments.charge"),
		)
		found := 0
		for _, m := range metrics.ScopeMetrics[0].Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				if p := data.DataPoints; m.Name != "messaging.client.consumed.messages" || len(p) != 1 || p[0].Value != 1 || !p[0].Attributes.Equals(&labels) {
					t.Errorf("%+v", m)
				}
				found++
			case metricdata.Histogram[float64]:
				p := data.DataPoints
				kind, _ := p[0].Attributes.Value("error.type")
				if m.Name != "messaging.process.duration" || m.Unit != "s" || len(p) != 1 || p[0].Count != 1 || p[0].Attributes.Len() != 5 || kind.AsString() != "context.deadlineExceededError" {
					t.Errorf("%+v", m)
				}
				found++
			}
		}
		if found != 2 {
			t.Errorf("%+v", metrics)
		}
	})
}
