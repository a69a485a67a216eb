package holdfast

import "context"

// Tenure is what holding a lock means to those who only write: which keys, under
// which token. The lock puts it in the context of its holder; the fence and your
// own SQL read it from there.
type Tenure struct {
	// Keys are held together. The first is the one that was asked for first:
	// the job's own, under the lock middleware.
	Keys []string
	// Token is the fencing token: positive, below 2^53, and larger than that of
	// every earlier tenure of any of the keys.
	Token int64
	// Abandoned says that the holder before did not clean up: a strong hint
	// that it died in the middle of the work, and no proof.
	Abandoned bool
}

type tenureKey struct{}

// WithTenure returns a context that carries t.
func WithTenure(ctx context.Context, t Tenure) context.Context {
	return context.WithValue(ctx, tenureKey{}, t)
}

// TenureFrom returns the innermost tenure that ctx carries. It does not say
// that the tenure still stands: a live context does, and a token check at the
// resource proves it.
func TenureFrom(ctx context.Context) (Tenure, bool) {
	t, ok := ctx.Value(tenureKey{}).(Tenure)
	return t, ok
}

// Token returns the fencing token that ctx carries, to write with every row, or
// 0 when it carries none: no write passes with it that a token ever guarded.
func Token(ctx context.Context) int64 {
	t, _ := TenureFrom(ctx)
	return t.Token
}
