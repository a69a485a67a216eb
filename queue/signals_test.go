package queue

import (
	"context"
	"maps"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/holdfastjobs/holdfast"
)

func flat(kvs []attribute.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range kvs {
		m[string(kv.Key)] = kv.Value.String()
	}
	return m
}

func TestEachOutcomeHasItsSpanAndItsCount(t *testing.T) {
	spans, reader := tracetest.NewSpanRecorder(), metric.NewManualReader()
	b := setup(t, inProcess(t), func(c *Config) {
		c.Queue = "payments"
		c.Telemetry.TracerProvider = trace.NewTracerProvider(trace.WithSpanProcessor(spans))
		c.Telemetry.MeterProvider = metric.NewMeterProvider(metric.WithReader(reader))
	})
	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	b.must(t, charge{"ch_1", 1})
	_, _ = b.Enqueue(t.Context(), charge{"ch_1", 1})
	_, _ = b.Enqueue(t.Context(), charge{"ch_1", 2})
	_, _ = b.Enqueue(late, charge{"ch_1", 1})
	_, _ = b.Enqueue(t.Context(), charge{"ch_1", 1}, Timeout(1)) // never a message
	b.Close()
	_, _ = b.Enqueue(t.Context(), charge{"ch_1", 1})

	want := []struct{ outcome, errorType string }{
		{"sent", ""}, {"duplicate", ""}, {"mismatch", "mismatch"}, {"error", "timeout"}, {"error", "redis"},
	}
	ended := spans.Ended()
	if len(ended) != len(want) {
		t.Fatalf("%d spans, want %d", len(ended), len(want))
	}
	for i, span := range ended {
		attributes := map[string]string{
			"messaging.system": "asynq", "messaging.operation.name": "send", "messaging.operation.type": "send",
			"messaging.destination.name": "payments", "messaging.message.id": "payments.charge:ch_1",
			"holdfast.job.kind": "payments.charge", "holdfast.send.outcome": want[i].outcome,
		}
		status := codes.Unset
		if want[i].errorType != "" {
			attributes["error.type"], status = want[i].errorType, codes.Error
		}
		if got := flat(span.Attributes()); !maps.Equal(got, attributes) {
			t.Errorf("span %d: %v, want %v", i, got, attributes)
		}
		if span.Name() != "send payments" || span.SpanKind() != oteltrace.SpanKindProducer || span.Status().Code != status ||
			span.InstrumentationScope().Name != holdfast.ScopeName {
			t.Errorf("span %d: %s, %v, %v", i, span.Name(), span.SpanKind(), span.Status())
		}
	}
	checkMetrics(t, reader, len(want))
}

func checkMetrics(t *testing.T, reader metric.Reader, outcomes int) {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, m := range data.ScopeMetrics[0].Metrics {
		if m.Unit == "" || m.Description == "" {
			t.Errorf("%s: unit %q, description %q", m.Name, m.Unit, m.Description)
		}
		var sets []attribute.Set
		switch d := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range d.DataPoints {
				sets = append(sets, p.Attributes)
			}
		case metricdata.Histogram[float64]:
			for _, p := range d.DataPoints {
				sets = append(sets, p.Attributes)
			}
		}
		for _, s := range sets {
			if seen[m.Name]++; s.HasValue("messaging.message.id") || !s.HasValue("messaging.destination.name") || !s.HasValue("holdfast.send.outcome") {
				t.Errorf("%s: %v", m.Name, s)
			}
		}
	}
	if want := map[string]int{"messaging.client.sent.messages": outcomes, "messaging.client.operation.duration": outcomes}; !maps.Equal(seen, want) {
		t.Errorf("points %v, want %v", seen, want)
	}
}

func TestTheTraceTravelsInTheHeaders(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	telemetry := holdfast.Telemetry{TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(spans))}
	b := setup(t, inProcess(t), func(c *Config) { c.Telemetry = telemetry })
	b.must(t, charge{"ch_1", 1})
	remote := oteltrace.SpanContextFromContext(telemetry.Extract(t.Context(), b.entry(t).Headers))
	sent := spans.Ended()[0].SpanContext()
	if remote.TraceID() != sent.TraceID() || remote.SpanID() != sent.SpanID() {
		t.Errorf("headers carry %v, the span was %v", remote, sent)
	}
}
