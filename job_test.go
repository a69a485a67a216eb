package holdfast_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfastjobs/holdfast"
)

func TestSetResult(t *testing.T) {
	t.Parallel()
	job := &holdfast.Job{Kind: "mail", ID: "7"}
	ctx := holdfast.WithJob(t.Context(), job)
	if err := holdfast.SetResult(ctx, map[string]int{"sent": 1}); err != nil {
		t.Fatal(err)
	}
	wantField(t, holdfast.SetResult(ctx, strings.Repeat("x", holdfast.MaxResult)), "result", "64 KiB")
	if err := holdfast.SetResult(ctx, func() {}); err == nil {
		t.Error("a function was marshalled")
	}
	if got := string(job.Result()); got != `{"sent":1}` {
		t.Errorf("result after two refused ones is %s", got)
	}
	raw := []byte{0xff, 0}
	if err := holdfast.SetResult(ctx, raw); err != nil {
		t.Fatal(err)
	}
	if raw[0] = 'x'; string(job.Result()) != "\xff\x00" {
		t.Errorf("bytes became %q", job.Result())
	}
	if err := holdfast.SetResult(t.Context(), 1); !errors.Is(err, holdfast.ErrNoJob) {
		t.Errorf("outside a handler: %v", err)
	}
}

func TestTheInnermostTenureIsRead(t *testing.T) {
	t.Parallel()
	if _, ok := holdfast.TenureFrom(t.Context()); ok {
		t.Error("a bare context carries a tenure")
	}
	outer := holdfast.WithTenure(t.Context(), holdfast.Tenure{Keys: []string{"j/mail/7"}, Token: 2})
	inner := holdfast.WithTenure(outer, holdfast.Tenure{Keys: []string{"r/report"}, Token: 4, Abandoned: true})
	got, _ := holdfast.TenureFrom(inner)
	if want := (holdfast.Tenure{Keys: []string{"r/report"}, Token: 4, Abandoned: true}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestChainPutsTheFirstOutermostAndShowsEachTheRoute(t *testing.T) {
	t.Parallel()
	var order []string
	mark := func(name string) holdfast.Middleware {
		return func(route holdfast.Route, next holdfast.Handler) holdfast.Handler {
			if route.Kind != "mail" {
				t.Errorf("%s is put around kind %q", name, route.Kind)
			}
			return holdfast.HandlerFunc(func(ctx context.Context, job *holdfast.Job) error {
				order = append(order, name)
				return next.Handle(ctx, job)
			})
		}
	}
	end := holdfast.HandlerFunc(func(_ context.Context, job *holdfast.Job) error {
		order = append(order, job.Key())
		return nil
	})
	h := holdfast.Chain(holdfast.Route{Kind: "mail"}, end, mark("first"), mark("second"))
	if err := h.Handle(t.Context(), &holdfast.Job{Kind: "mail", ID: "7"}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, " "); got != "first second j/mail/7" {
		t.Errorf("ran in order %q", got)
	}
}

func TestTheTokenOfNoTenureIsZero(t *testing.T) {
	t.Parallel()
	if got := holdfast.Token(t.Context()); got != 0 {
		t.Errorf("token %d without a tenure", got)
	}
	if got := holdfast.Token(holdfast.WithTenure(t.Context(), holdfast.Tenure{Token: 42})); got != 42 {
		t.Errorf("token %d, want 42", got)
	}
}

func TestMustPanicsWithTheError(t *testing.T) {
	t.Parallel()
	if got := holdfast.Must(7, nil); got != 7 {
		t.Errorf("got %d, want 7", got)
	}
	defer func() {
		if p := recover(); p != holdfast.ErrNoJob {
			t.Errorf("recovered %v", p)
		}
	}()
	holdfast.Must(7, holdfast.ErrNoJob)
}
