package holdfast

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// ScopeName is the instrumentation scope of every span and metric of Holdfast.
const ScopeName = "github.com/holdfastjobs/holdfast"

// Attributes of our own. Those of messaging follow the semantic conventions at
// the schema URL that [Telemetry.Tracer] states. No key and no ID is ever a
// metric attribute.
const (
	AttrLockName    = attribute.Key("holdfast.lock.name")    // the key's template, such as a kind
	AttrLockOutcome = attribute.Key("holdfast.lock.outcome") // acquired, contended, done, no_quorum, lost, error
	AttrLockToken   = attribute.Key("holdfast.lock.token")
	AttrLockHolder  = attribute.Key("holdfast.lock.holder") // the holder's token
	AttrLockNodes   = attribute.Key("holdfast.lock.nodes")
	AttrLockTries   = attribute.Key("holdfast.lock.tries")
	AttrLockWait    = attribute.Key("holdfast.lock.wait") // seconds
	AttrJobKind     = attribute.Key("holdfast.job.kind")
	AttrJobOutcome  = attribute.Key("holdfast.job.outcome")  // done, failed, later, archived
	AttrSendOutcome = attribute.Key("holdfast.send.outcome") // sent, duplicate, mismatch, error
	AttrJobAttempt  = attribute.Key("holdfast.job.attempt")
	AttrContentions = attribute.Key("holdfast.job.contentions")
)

// Telemetry says where spans and metrics go. The zero value means the global
// providers, which do nothing until the program sets them.
type Telemetry struct {
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	// Propagator carries trace context through job headers; nil means W3C
	// traceparent and baggage, whatever the global one is.
	Propagator propagation.TextMapPropagator
	// SameTrace makes the processing of a job a child of its enqueue, in one
	// trace. By default it is a trace of its own, with a link.
	SameTrace bool
}

// Tracer returns the tracer that every room uses.
func (t Telemetry) Tracer() trace.Tracer {
	p := t.TracerProvider
	if p == nil {
		p = otel.GetTracerProvider()
	}
	return p.Tracer(ScopeName, trace.WithSchemaURL(semconv.SchemaURL))
}

// Meter returns the meter that every room uses.
func (t Telemetry) Meter() metric.Meter {
	p := t.MeterProvider
	if p == nil {
		p = otel.GetMeterProvider()
	}
	return p.Meter(ScopeName, metric.WithSchemaURL(semconv.SchemaURL))
}

// Inject writes the trace context of ctx into headers.
func (t Telemetry) Inject(ctx context.Context, headers map[string]string) {
	t.propagator().Inject(ctx, propagation.MapCarrier(headers))
}

// Extract returns ctx with the remote trace context that headers carry.
func (t Telemetry) Extract(ctx context.Context, headers map[string]string) context.Context {
	return t.propagator().Extract(ctx, propagation.MapCarrier(headers))
}

func (t Telemetry) propagator() propagation.TextMapPropagator {
	if t.Propagator != nil {
		return t.Propagator
	}
	return propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
}
