package holdfast_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfastjobs/holdfast"
)

func TestKindIsRefusedByName(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"a", "payments.charge", "mail_v2-eu", strings.Repeat("k", 64)} {
		if err := holdfast.CheckKind(kind); err != nil {
			t.Errorf("CheckKind(%q) = %v", kind, err)
		}
	}
	for _, kind := range []string{"", "Payments", "email:deliver", "a/b", "a b", "é", strings.Repeat("k", 65)} {
		wantField(t, holdfast.CheckKind(kind), "Kind", "[a-z0-9._-]")
	}
}

func TestJobIDIsRefusedByName(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"ch_1", "2026-11-29T10:00:00Z", "a:b@c", "注文-7", strings.Repeat("i", 200)} {
		if err := holdfast.CheckJobID(id); err != nil {
			t.Errorf("CheckJobID(%q) = %v", id, err)
		}
	}
	for _, id := range []string{"", "a/b", "a b", "a\nb", "a\x00", "\xff", strings.Repeat("i", 201)} {
		wantField(t, holdfast.CheckJobID(id), "JobID", "without space or slash")
	}
}

func wantField(t *testing.T, err error, field, want string) {
	t.Helper()
	fe, ok := errors.AsType[*holdfast.FieldError](err)
	if !ok || fe.Field != field || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want a FieldError of %s that says %q", err, field, want)
	}
}

func TestABadValueIsNotQuotedWithoutEnd(t *testing.T) {
	t.Parallel()
	cause := errors.New("amount must be positive")
	err := &holdfast.FieldError{Room: "queue", Field: "JobID", Value: strings.Repeat("x", 5000), Want: "less", Err: cause}
	if said := err.Error(); len(said) > 200 || !strings.Contains(said, "xxx…") {
		t.Errorf("%d bytes: %s", len(said), said)
	}
	if !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
}
