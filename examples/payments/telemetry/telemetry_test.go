package telemetry

import (
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/holdfastjobs/holdfast/examples/payments/telemetry/sink"
)

func TestSpansAndMetricsReachTheCollectorAtClose(t *testing.T) {
	t.Parallel()
	collector, err := sink.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer collector.Close()
	tel, err := Start(t.Context(), "payments", "1", collector.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	_, span := tel.Tracer().Start(t.Context(), "a span")
	span.End()
	counter, err := tel.Meter().Int64Counter("a.counter")
	if err != nil {
		t.Fatal(err)
	}
	counter.Add(t.Context(), 2)
	if err := tel.Close(); err != nil {
		t.Fatal(err)
	}
	if !collector.Saw("payments", "a span") || !collector.Saw("payments", "a.counter") {
		t.Fatalf("the collector saw %v", collector.Names())
	}
}

func TestCountersAreSummedOverTheirAttributes(t *testing.T) {
	t.Parallel()
	tel, err := Start(t.Context(), "payments", "1", "")
	if err != nil {
		t.Fatal(err)
	}
	defer tel.Close()
	counter, err := tel.Meter().Int64Counter("a.counter")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"x", "y"} {
		counter.Add(t.Context(), 2, metric.WithAttributes(attribute.String("kind", kind)))
	}
	for range 2 { // reading takes nothing away
		got, err := tel.Counters(t.Context())
		if err != nil || got["a.counter"] != 4 {
			t.Fatalf("got %v, %v", got, err)
		}
	}
}

func TestACollectorThatIsAwayCostsLittle(t *testing.T) {
	t.Parallel()
	began := time.Now()
	tel, err := Start(t.Context(), "payments", "1", "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	_, span := tel.Tracer().Start(t.Context(), "a span")
	span.End()
	_ = tel.Close()
	if d := time.Since(began); d > closeTime+time.Second {
		t.Fatalf("took %v", d)
	}
}
