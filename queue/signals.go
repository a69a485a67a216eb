package queue

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/messagingconv"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfastjobs/holdfast"
)

const (
	system    = "asynq"
	operation = "send"
)

// signals are the span and the metrics of an enqueue.
type signals struct {
	tracer   trace.Tracer
	sent     messagingconv.ClientSentMessages
	duration messagingconv.ClientOperationDuration
}

func newSignals(t holdfast.Telemetry) signals {
	// An instrument that could not be made does nothing; telemetry never
	// changes an outcome.
	sent, _ := messagingconv.NewClientSentMessages(t.Meter())
	duration, _ := messagingconv.NewClientOperationDuration(t.Meter())
	return signals{t.Tracer(), sent, duration}
}

// start begins the span of an enqueue; the returned function ends it and counts.
func (s signals) start(ctx context.Context, m *message) (context.Context, func(error)) {
	begin := time.Now()
	ctx, span := s.tracer.Start(ctx, operation+" "+m.queue, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(
		semconv.MessagingSystemKey.String(system),
		semconv.MessagingOperationName(operation),
		semconv.MessagingOperationTypeSend,
		semconv.MessagingDestinationName(m.queue),
		semconv.MessagingMessageID(m.taskID()),
		holdfast.AttrJobKind.String(m.kind),
	))
	return ctx, func(err error) {
		outcome, errorType := classify(ctx, err)
		result := []attribute.KeyValue{holdfast.AttrSendOutcome.String(outcome)}
		if errorType != "" {
			result = append(result, semconv.ErrorTypeKey.String(errorType))
			span.SetStatus(codes.Error, errorType)
		}
		span.SetAttributes(result...)
		dimensions := slices.Concat(result, []attribute.KeyValue{semconv.MessagingDestinationName(m.queue), holdfast.AttrJobKind.String(m.kind)})
		s.sent.Add(ctx, 1, operation, system, dimensions...)
		s.duration.Record(ctx, time.Since(begin).Seconds(), operation, system,
			append(dimensions, s.duration.AttrOperationType(messagingconv.OperationTypeSend))...)
		span.End()
	}
}

// classify names the outcome and, if it is an error, its type. A duplicate is
// none: the job is where it should be.
func classify(ctx context.Context, err error) (outcome, errorType string) {
	switch {
	case err == nil:
		return "sent", ""
	case errors.Is(err, ErrDuplicate):
		return "duplicate", ""
	case errors.Is(err, holdfast.ErrMismatch):
		return "mismatch", "mismatch"
	case errors.Is(err, context.DeadlineExceeded):
		return "error", "timeout"
	case ctx.Err() != nil:
		return "error", "canceled"
	}
	return "error", "redis"
}
