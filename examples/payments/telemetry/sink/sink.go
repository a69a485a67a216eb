// Package sink is an OpenTelemetry collector for tests: it takes OTLP over gRPC
// and remembers names.
package sink

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/grpc"
)

// Sink is a collector on a loopback port of its own. It is safe for concurrent
// use.
type Sink struct {
	Endpoint string // host:port

	server  *grpc.Server
	serving sync.WaitGroup
	mu      sync.Mutex
	seen    map[string]bool
}

// Start starts a collector. Close ends it.
func Start() (*Sink, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("sink: listen: %w", err)
	}
	s := &Sink{Endpoint: listener.Addr().String(), server: grpc.NewServer(), seen: make(map[string]bool)}
	collectortrace.RegisterTraceServiceServer(s.server, traces{Sink: s})
	collectormetrics.RegisterMetricsServiceServer(s.server, metrics{Sink: s})
	s.serving.Go(func() { _ = s.server.Serve(listener) })
	return s, nil
}

// Close ends the collector.
func (s *Sink) Close() {
	s.server.Stop()
	s.serving.Wait()
}

// Saw reports whether service sent a span or a metric of that name.
func (s *Sink) Saw(service, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[service+"\x00"+name]
}

// Names are all services and names seen, sorted.
func (s *Sink) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.seen))
	for name := range s.seen {
		names = append(names, fmt.Sprintf("%q", name))
	}
	slices.Sort(names)
	return names
}

func (s *Sink) note(from *resource.Resource, name string) {
	for _, a := range from.GetAttributes() {
		if a.GetKey() == "service.name" {
			s.mu.Lock()
			s.seen[a.GetValue().GetStringValue()+"\x00"+name] = true
			s.mu.Unlock()
		}
	}
}

type traces struct {
	collectortrace.UnimplementedTraceServiceServer
	*Sink
}

func (t traces) Export(_ context.Context, r *collectortrace.ExportTraceServiceRequest) (*collectortrace.ExportTraceServiceResponse, error) {
	for _, from := range r.GetResourceSpans() {
		for _, scope := range from.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				t.note(from.GetResource(), span.GetName())
			}
		}
	}
	return &collectortrace.ExportTraceServiceResponse{}, nil
}

type metrics struct {
	collectormetrics.UnimplementedMetricsServiceServer
	*Sink
}

func (m metrics) Export(_ context.Context, r *collectormetrics.ExportMetricsServiceRequest) (*collectormetrics.ExportMetricsServiceResponse, error) {
	for _, from := range r.GetResourceMetrics() {
		for _, scope := range from.GetScopeMetrics() {
			for _, metric := range scope.GetMetrics() {
				m.note(from.GetResource(), metric.GetName())
			}
		}
	}
	return &collectormetrics.ExportMetricsServiceResponse{}, nil
}
