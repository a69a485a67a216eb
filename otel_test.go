package holdfast_test

import (
	"testing"

	"github.com/holdfastjobs/holdfast"
	"go.opentelemetry.io/otel/baggage"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

func TestTraceContextAndBaggageTravelInHeaders(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	tel := holdfast.Telemetry{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))}
	member, err := baggage.NewMember("tenant", "acme")
	if err != nil {
		t.Fatal(err)
	}
	bag, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	ctx, span := tel.Tracer().Start(baggage.ContextWithBaggage(t.Context(), bag), "send")
	span.End()

	headers := map[string]string{}
	tel.Inject(ctx, headers)
	got := tel.Extract(t.Context(), headers)
	if remote := trace.SpanContextFromContext(got); remote.SpanID() != span.SpanContext().SpanID() || !remote.IsRemote() {
		t.Errorf("extracted %v from %v", remote, headers)
	}
	if tenant := baggage.FromContext(got).Member("tenant").Value(); tenant != "acme" {
		t.Errorf("baggage carries tenant %q", tenant)
	}
	if scope := recorder.Ended()[0].InstrumentationScope(); scope.Name != holdfast.ScopeName || scope.SchemaURL == "" {
		t.Errorf("scope is %+v", scope)
	}
}

func TestTheZeroTelemetryDoesNothing(t *testing.T) {
	t.Parallel()
	var tel holdfast.Telemetry
	_, span := tel.Tracer().Start(t.Context(), "send")
	defer span.End()
	if span.IsRecording() || span.SpanContext().IsValid() {
		t.Error("a span is recorded without a provider")
	}
	if _, err := tel.Meter().Int64Counter("holdfast.job.duplicates"); err != nil {
		t.Error(err)
	}
}
