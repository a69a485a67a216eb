package worker

import (
	"context"
	"errors"
	"time"

	"github.com/hibiken/asynq"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/messagingconv"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfastjobs/holdfast"
)

const (
	messagingSystem = "asynq"
	operation       = "process"
)

// meter makes the process spans and their metrics.
type meter struct {
	telemetry holdfast.Telemetry
	tracer    trace.Tracer
	duration  messagingconv.ProcessDuration
	consumed  messagingconv.ClientConsumedMessages
	overruns  metric.Int64Counter
}

// newMeter leaves out, with a log line, an instrument that cannot be made.
func newMeter(cfg Config) meter {
	otel := cfg.Telemetry.Meter()
	duration, err1 := messagingconv.NewProcessDuration(otel)
	consumed, err2 := messagingconv.NewClientConsumedMessages(otel)
	overruns, err3 := otel.Int64Counter("holdfast.job.overruns", metric.WithUnit("{job}"),
		metric.WithDescription("Handlers that were given up because they ignored the end of their context."))
	if err := errors.Join(err1, err2, err3); err != nil {
		cfg.Logger.Warn("metrics are incomplete", "err", err)
	}
	return meter{telemetry: cfg.Telemetry, tracer: cfg.Telemetry.Tracer(), duration: duration, consumed: consumed, overruns: overruns}
}

// process is one delivery under way.
type process struct {
	meter   meter
	span    trace.Span
	started time.Time
	labels  []attribute.KeyValue // of the metrics: no ID among them
}

// start begins the process span: a trace of its own, linked to the producer's,
// as a job may wait for hours and be tried many times; or a child, on request.
func (m meter) start(ctx context.Context, task *asynq.Task, job *holdfast.Job, known bool) (context.Context, process) {
	ctx = m.telemetry.Extract(ctx, task.Headers())
	id, _ := asynq.GetTaskID(ctx)
	p := process{meter: m, started: time.Now(), labels: []attribute.KeyValue{semconv.MessagingDestinationName(job.Queue)}}
	if known { // other producers may send any number of kinds
		p.labels = append(p.labels, holdfast.AttrJobKind.String(job.Kind))
	}
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithTimestamp(p.started),
		trace.WithAttributes(
			semconv.MessagingSystemKey.String(messagingSystem),
			semconv.MessagingOperationName(operation),
			semconv.MessagingOperationTypeProcess,
			semconv.MessagingDestinationName(job.Queue),
			semconv.MessagingMessageID(id),
			holdfast.AttrJobKind.String(job.Kind),
			holdfast.AttrJobAttempt.Int(job.Attempt),
		),
	}
	if !m.telemetry.SameTrace {
		options = append(options, trace.WithNewRoot())
		if sent := trace.SpanContextFromContext(ctx); sent.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: sent}))
		}
	}
	ctx, p.span = m.tracer.Start(ctx, operation+" "+job.Queue, options...)
	m.consumed.Add(ctx, 1, operation, messagingSystem, p.labels...)
	return ctx, p
}

// end ends the span. A job that is put back, for contention, an unknown kind or
// a stop, is no error.
func (p process) end(ctx context.Context, o *outcome) {
	p.span.SetAttributes(holdfast.AttrJobOutcome.String(o.word()))
	if o != nil && (o.counted || o.dead) {
		kind := errorType(o.err)
		p.labels = append(p.labels, kind)
		p.span.SetAttributes(kind)
		p.span.SetStatus(codes.Error, o.text)
	}
	ended := time.Now()
	p.meter.duration.Record(ctx, ended.Sub(p.started).Seconds(), operation, messagingSystem, p.labels...)
	p.span.End(trace.WithTimestamp(ended))
}

func (o *outcome) word() string {
	switch {
	case o == nil:
		return "done"
	case o.dead:
		return "archived"
	case o.counted:
		return "failed"
	}
	return "later"
}

// errorType is the error.type attribute: what the error says of itself, or else
// the Go type beneath verdicts and other wrappers.
func errorType(err error) attribute.KeyValue {
	if named, ok := errors.AsType[interface {
		error
		ErrorType() string
	}](err); ok {
		return semconv.ErrorTypeKey.String(named.ErrorType())
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return semconv.ErrorType(err)
}
