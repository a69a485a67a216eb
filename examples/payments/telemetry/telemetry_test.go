package telemetry

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
)

// sink is a collector that remembers names.
type sink struct {
	collectortrace.UnimplementedTraceServiceServer
	mu   sync.Mutex
	seen map[string]bool
}

func (s *sink) Export(_ context.Context, r *collectortrace.ExportTraceServiceRequest) (*collectortrace.ExportTraceServiceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range r.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				s.seen[span.Name] = true
			}
		}
	}
	return &collectortrace.ExportTraceServiceResponse{}, nil
}

type metricSink struct {
	collectormetrics.UnimplementedMetricsServiceServer
	*sink
}

func (s metricSink) Export(_ context.Context, r *collectormetrics.ExportMetricsServiceRequest) (*collectormetrics.ExportMetricsServiceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range r.ResourceMetrics {
		for _, scope := range resource.ScopeMetrics {
			for _, m := range scope.Metrics {
				s.seen[m.Name] = true
			}
		}
	}
	return &collectormetrics.ExportMetricsServiceResponse{}, nil
}

func TestSpansAndMetricsReachTheCollectorAtClose(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &sink{seen: make(map[string]bool)}
	server := grpc.NewServer()
	collectortrace.RegisterTraceServiceServer(server, s)
	collectormetrics.RegisterMetricsServiceServer(server, metricSink{sink: s})
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	defer serving.Wait()
	defer server.Stop()

	tel, err := Start(t.Context(), "payments", "1", listener.Addr().String())
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.seen["a span"] || !s.seen["a.counter"] {
		t.Fatalf("the collector saw %v", s.seen)
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
