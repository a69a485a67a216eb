package redlock

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfastjobs/holdfast"
)

// signals are the spans and metrics of the locks. They change no outcome, and
// metrics carry no key and no ID: the claim's name and the outcome only.
type signals struct {
	tracer      trace.Tracer
	nodes       int
	wait, hold  metric.Float64Histogram
	losses      metric.Int64Counter
	renewals    metric.Int64Counter
	contentions metric.Int64Counter
}

func newSignals(cfg Config) (*signals, error) {
	m := cfg.Telemetry.Meter()
	s := &signals{tracer: cfg.Telemetry.Tracer(), nodes: len(cfg.Nodes)}
	var errs [5]error
	s.wait, errs[0] = m.Float64Histogram("holdfast.lock.wait.duration", metric.WithUnit("s"),
		metric.WithDescription("How long an acquire took, until it was granted or gave up."))
	s.hold, errs[1] = m.Float64Histogram("holdfast.lock.hold.duration", metric.WithUnit("s"),
		metric.WithDescription("How long a lease was held, until it was settled or lost."))
	s.losses, errs[2] = m.Int64Counter("holdfast.lock.lost", metric.WithUnit("{lease}"),
		metric.WithDescription("Leases that were lost while held."))
	s.renewals, errs[3] = m.Int64Counter("holdfast.lock.renewals", metric.WithUnit("{renewal}"),
		metric.WithDescription("Rounds of extension, each over all nodes."))
	s.contentions, errs[4] = m.Int64Counter("holdfast.lock.contentions", metric.WithUnit("{acquire}"),
		metric.WithDescription("Acquires that met another holder."))
	return s, errors.Join(errs[:]...)
}

// named is the claim's name as an attribute, and more.
func named(name string, more ...attribute.KeyValue) []attribute.KeyValue {
	if name != "" {
		more = append(more, holdfast.AttrLockName.String(name))
	}
	return more
}

// acquireSpan is one call of Acquire or TryAcquire.
type acquireSpan struct {
	*signals
	ctx   context.Context
	claim Claim
	span  trace.Span
	start time.Time
}

func (s *signals) acquiring(ctx context.Context, c Claim) *acquireSpan {
	name := "acquire lock"
	if c.Name != "" {
		name += " " + c.Name
	}
	ctx, span := s.tracer.Start(ctx, name, trace.WithAttributes(named(c.Name, holdfast.AttrLockNodes.Int(s.nodes))...))
	return &acquireSpan{signals: s, ctx: ctx, claim: c, span: span, start: time.Now()}
}

func (a *acquireSpan) end(lease *Lease, err error, seen sighting) {
	waited := time.Since(a.start).Seconds()
	outcome := outcomeOf(err)
	if a.wait.Enabled(a.ctx) {
		a.wait.Record(a.ctx, waited, metric.WithAttributes(named(a.claim.Name, holdfast.AttrLockOutcome.String(outcome))...))
	}
	if seen.holder != 0 {
		a.contentions.Add(a.ctx, 1, metric.WithAttributes(named(a.claim.Name)...))
		a.span.SetAttributes(holdfast.AttrLockHolder.Int64(seen.holder))
	}
	a.span.SetAttributes(holdfast.AttrLockWait.Float64(waited), holdfast.AttrLockTries.Int(seen.tries), holdfast.AttrLockOutcome.String(outcome))
	if lease != nil {
		a.span.SetAttributes(holdfast.AttrLockToken.Int64(lease.token))
	}
	if outcome == "no_quorum" || outcome == "error" { // contention is none
		a.span.SetStatus(codes.Error, err.Error())
		a.span.SetAttributes(semconv.ErrorTypeKey.String(outcome))
	}
	a.span.End()
}

// outcomeOf is the value of [holdfast.AttrLockOutcome]. A wait that was ended by
// its context is what it waited for.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "acquired"
	case errors.Is(err, ErrHeld):
		return "contended"
	case errors.Is(err, ErrDone):
		return "done"
	case errors.Is(err, ErrNoQuorum):
		return "no_quorum"
	}
	return "error"
}

// releasing spans a settlement; the function it returns ends it.
func (s *signals) releasing(ctx context.Context, lease *Lease) func(Outcome) {
	_, span := s.tracer.Start(ctx, "release lock", trace.WithAttributes(named(lease.try.claim.Name,
		holdfast.AttrLockToken.Int64(lease.token), holdfast.AttrLockNodes.Int(s.nodes))...))
	return func(o Outcome) {
		if o == Unknown {
			span.SetStatus(codes.Error, "outcome unknown")
			span.SetAttributes(semconv.ErrorTypeKey.String("unknown"))
		}
		span.End()
	}
}

// held counts a lease that was settled without loss; lost counts the others.
func (s *signals) held(lease *Lease, outcome string) {
	if !s.hold.Enabled(lease.ctx) {
		return
	}
	s.hold.Record(lease.ctx, time.Since(lease.began).Seconds(),
		metric.WithAttributes(named(lease.try.claim.Name, holdfast.AttrLockOutcome.String(outcome))...))
}

func (s *signals) lost(lease *Lease) {
	s.losses.Add(lease.ctx, 1, metric.WithAttributes(named(lease.try.claim.Name, attribute.String("holdfast.lock.why", string(lease.lost.Why)))...))
	s.held(lease, "lost")
}

func (s *signals) renewed(lease *Lease, lost Why, err error) {
	if !s.renewals.Enabled(lease.ctx) {
		return
	}
	outcome := "acquired"
	switch {
	case lost != "":
		outcome = "lost"
	case err != nil:
		outcome = "no_quorum"
	}
	s.renewals.Add(lease.ctx, 1, metric.WithAttributes(named(lease.try.claim.Name, holdfast.AttrLockOutcome.String(outcome))...))
}
