package redlock

import (
	"cmp"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"github.com/holdfastjobs/holdfast"
)

// Config is what a [Locker] is made of. Only Nodes must be given. Every process
// that shares keys must use the same Namespace, and the same names of nodes,
// MaxTTL, Bound and FenceTTL: the nodes carry these, and who differs gets a
// [ConfigError].
type Config struct {
	// Nodes are 1, 3, 5 or 7 independent Redis primaries, of 7.0 or later, with
	// distinct names and addresses. See [URLs].
	Nodes []Node

	// Namespace begins the name of every Redis key and channel: 1 to 64 bytes
	// without spaces, of which none may begin with another's. Default "holdfast:".
	Namespace string

	// TTL is how long a grant lives on a node unless it is extended: 100 ms to
	// MaxTTL. It bounds how long a dead holder blocks its keys. Default 5 s, or
	// MaxTTL if that is less.
	TTL time.Duration

	// MaxTTL is the longest TTL that any claim of the fleet may ask for: 100 ms
	// to 10 min. Default 10 s.
	MaxTTL time.Duration

	// Bound is how far a token may be ahead of a node's clock: 100 ms to 10 min.
	// Default 5 s.
	Bound time.Duration

	// FenceTTL is how long a node remembers a key's last token after the last
	// write: at least 2 x MaxTTL + Bound, at most 24 h. Default 1 min, or that
	// minimum if it is more.
	FenceTTL time.Duration

	// Retention is how long a completion record lives when [Lease.Finish] does
	// not say: 1 s to 10 years. Default 24 h.
	Retention time.Duration

	// WaiterTTL is how long the count of a waiter survives its last try: 1 s to
	// 24 h. It must be longer than the longest pause between two tries, time in a
	// backlog included. Default 5 min.
	WaiterTTL time.Duration

	// NodeTimeout bounds every command to one node: 50 to 200 ms. Default 100 ms.
	NodeTimeout time.Duration

	// Ungated lets in nodes that cannot tell their run_id: embedded ones, or ones
	// that forbid the command. Nobody notices when such a node restarts and has
	// forgotten its locks, so a restart can let two holders in. Nodes that can tell
	// are gated all the same.
	Ungated bool

	// Clock is for tests. Default: the machine's, suspend included.
	Clock Clock
	// Logger hears what no caller can see. Default slog.Default().
	Logger *slog.Logger
	// Telemetry says where spans and metrics go. Default: the global providers.
	Telemetry holdfast.Telemetry
}

const day = 24 * time.Hour

// withDefaults returns c with every zero field set, or the first bad field.
func (c Config) withDefaults() (Config, error) {
	c.Namespace = cmp.Or(c.Namespace, "holdfast:")
	c.MaxTTL = cmp.Or(c.MaxTTL, 10*time.Second)
	c.TTL = cmp.Or(c.TTL, min(5*time.Second, c.MaxTTL))
	c.Bound = cmp.Or(c.Bound, 5*time.Second)
	least := 2*c.MaxTTL + c.Bound
	c.FenceTTL = cmp.Or(c.FenceTTL, max(time.Minute, least))
	c.Retention = cmp.Or(c.Retention, day)
	c.WaiterTTL = cmp.Or(c.WaiterTTL, 5*time.Minute)
	c.NodeTimeout = cmp.Or(c.NodeTimeout, 100*time.Millisecond)
	if c.Clock == nil {
		c.Clock = newSystemClock()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if err := checkNodes(c.Nodes); err != nil {
		return c, err
	}
	outside := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if len(c.Namespace) > 64 || strings.ContainsFunc(c.Namespace, outside) {
		return c, bad("Namespace", c.Namespace, "1 to 64 bytes of printable text without spaces")
	}
	return c, cmp.Or(
		within("MaxTTL", c.MaxTTL, 100*time.Millisecond, 10*time.Minute),
		checkTTL("TTL", c.TTL, c.MaxTTL),
		within("Bound", c.Bound, 100*time.Millisecond, 10*time.Minute),
		within("FenceTTL", c.FenceTTL, least, day),
		within("Retention", c.Retention, time.Second, 3650*day),
		within("WaiterTTL", c.WaiterTTL, time.Second, day),
		within("NodeTimeout", c.NodeTimeout, 50*time.Millisecond, 200*time.Millisecond),
	)
}

func bad(field string, value any, want string) error {
	return &holdfast.FieldError{Room: "redlock", Field: field, Value: value, Want: want}
}

func within(field string, d, least, most time.Duration) error {
	if d < least || d > most {
		return bad(field, d, fmt.Sprintf("%v to %v, or 0 for the default", least, most))
	}
	return nil
}

func checkTTL(field string, d, most time.Duration) error {
	if d < 100*time.Millisecond || d > most {
		return bad(field, d, fmt.Sprintf("100ms to MaxTTL (%v), or 0 for the default", most))
	}
	return nil
}
