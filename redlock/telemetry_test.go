package redlock

import (
	"errors"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/holdfastjobs/holdfast"
)

func TestSpansAndMetricsTellWhatHappenedAndNoKey(t *testing.T) {
	spans, reader := tracetest.NewSpanRecorder(), metric.NewManualReader()
	l := newLocker(t, embeddedNodes(t, 3), func(c *Config) {
		c.Telemetry = holdfast.Telemetry{
			TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(spans)),
			MeterProvider:  metric.NewMeterProvider(metric.WithReader(reader)),
		}
	})
	c := Claim{Keys: []string{newKey(t)}, Name: "payments.charge", Waiter: "secret-waiter"}
	s := take(t, l, c)
	if _, err := l.TryAcquire(t.Context(), c); !errors.Is(err, ErrHeld) {
		t.Fatal(err)
	}
	release(t, s, Released)
	lost := take(t, l, Key(newKey(t)))
	lost.lose(LostTaken)
	release(t, lost, Expired)

	var names []string
	for _, span := range spans.Ended() {
		names = append(names, span.Name())
		attrs := map[string]string{}
		for _, kv := range span.Attributes() {
			attrs[string(kv.Key)] = kv.Value.String()
		}
		if span.Status().Code == codes.Error {
			t.Errorf("%s: contention and loss are no errors of an acquire: %v", span.Name(), span.Status())
		}
		if strings.HasPrefix(span.Name(), "acquire") && (attrs["holdfast.lock.outcome"] == "" || attrs["holdfast.lock.nodes"] != "3" ||
			attrs["holdfast.lock.tries"] != "1" || attrs["holdfast.lock.wait"] == "") {
			t.Errorf("%s: %v", span.Name(), attrs)
		}
	}
	if got := strings.Join(names, ", "); got != "acquire lock payments.charge, acquire lock payments.charge, release lock, acquire lock" {
		t.Error(got)
	}

	var rm metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &rm); err != nil {
		t.Fatal(err)
	}
	units := map[string]string{}
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			units[m.Name] = m.Unit
			if m.Description == "" {
				t.Error(m.Name, "has no description")
			}
			if text := strings.ToLower(strings.Join([]string{m.Name, dump(m)}, " ")); strings.Contains(text, "secret") || strings.Contains(text, strings.ToLower(t.Name())) {
				t.Error(m.Name, "carries a key or an ID")
			}
		}
	}
	for name, unit := range map[string]string{
		"holdfast.lock.wait.duration": "s", "holdfast.lock.hold.duration": "s", "holdfast.lock.lost": "{lease}", "holdfast.lock.contentions": "{acquire}",
	} {
		if units[name] != unit {
			t.Errorf("%s: unit %q, want %q", name, units[name], unit)
		}
	}
}

// dump is every attribute of every point.
func dump(m metricdata.Metrics) string {
	var all []string
	switch data := m.Data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			all = append(all, p.Attributes.Encoded(attribute.DefaultEncoder()))
		}
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			all = append(all, p.Attributes.Encoded(attribute.DefaultEncoder()))
		}
	}
	return strings.Join(all, " ")
}
