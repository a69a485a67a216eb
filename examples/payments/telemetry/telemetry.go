// Package telemetry gives a process of the example its OpenTelemetry SDK: counters
// that it can read itself, and, on request, traces and metrics over OTLP.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/holdfastjobs/holdfast"
)

const (
	// closeTime bounds what a collector that does not answer costs at the end.
	closeTime = 2 * time.Second
	// exportTime is shorter: a last export must have failed when Close returns.
	exportTime = 1500 * time.Millisecond
)

// Telemetry is the SDK of one process.
type Telemetry struct {
	holdfast.Telemetry // for every room's Config

	counters *sdkmetric.ManualReader
	traces   *delivery // nil sends nothing
	close    []func(context.Context) error
}

// Start sets the SDK up. service and instance name the process. endpoint is a
// collector's OTLP over gRPC, as host:port or as a URL, whose scheme https
// means TLS; "" sends nothing. No connection is made before there is something
// to send, and a collector that is away changes nothing but what it misses.
func Start(ctx context.Context, service, instance, endpoint string) (*Telemetry, error) {
	t := &Telemetry{counters: sdkmetric.NewManualReader()}
	about := resource.NewSchemaless(semconv.ServiceName(service), semconv.ServiceInstanceID(instance))
	metrics := []sdkmetric.Option{sdkmetric.WithResource(about), sdkmetric.WithReader(t.counters)}
	if endpoint != "" {
		if err := CheckEndpoint(endpoint); err != nil {
			return nil, fmt.Errorf("telemetry: %w", err)
		}
		endpoint = withScheme(endpoint)
		spans, err1 := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(endpoint), otlptracegrpc.WithTimeout(exportTime),
			otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{Enabled: true, InitialInterval: exportTime / 10, MaxInterval: exportTime, MaxElapsedTime: exportTime}))
		points, err2 := otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpointURL(endpoint))
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("telemetry: %w", err)
		}
		t.traces = &delivery{SpanExporter: spans}
		traces := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithBatcher(t.traces, sdktrace.WithBatchTimeout(time.Second)))
		metrics = append(metrics, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(points, sdkmetric.WithInterval(5*time.Second))))
		t.TracerProvider = traces
		t.close = append(t.close, traces.Shutdown)
	}
	provider := sdkmetric.NewMeterProvider(metrics...)
	t.MeterProvider = provider
	t.close = append(t.close, provider.Shutdown)
	return t, nil
}

// Counters is every integer counter by name, summed over its attributes, since
// Start.
func (t *Telemetry) Counters(ctx context.Context) (map[string]int64, error) {
	var all metricdata.ResourceMetrics
	if err := t.counters.Collect(ctx, &all); err != nil {
		return nil, fmt.Errorf("telemetry: collect: %w", err)
	}
	counters := make(map[string]int64)
	for _, scope := range all.ScopeMetrics {
		for _, metric := range scope.Metrics {
			if sum, ok := metric.Data.(metricdata.Sum[int64]); ok {
				for _, point := range sum.DataPoints {
					counters[metric.Name] += point.Value
				}
			}
		}
	}
	return counters, nil
}

// Close sends what is left, for at most two seconds. Counters fails after it.
func (t *Telemetry) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	var errs []error
	for _, shutdown := range t.close {
		errs = append(errs, shutdown(ctx))
	}
	return errors.Join(errs...)
}

// Undelivered is why traces did not reach the collector, after Close; nil says
// that all did. It leaves metrics out: many collectors take traces alone.
func (t *Telemetry) Undelivered() error {
	if t.traces == nil {
		return nil
	}
	return t.traces.reason()
}
