package redlock

import (
	"context"
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Claim is what an acquire asks for.
type Claim struct {
	// Keys are taken together under one token, all or none: 1 to 16, each of 1 to
	// 512 bytes of UTF-8 without control characters. One given twice counts once.
	Keys []string

	// Name is the template of the keys, such as a job's kind, for spans and
	// metrics: never a key, never an ID. "" leaves it out.
	Name string

	// TTL is this claim's own: 100 ms to Config.MaxTTL. Default Config.TTL.
	TTL time.Duration

	// Wait is for how long Acquire tries before it answers with its last
	// [HeldError] or [NoQuorumError]. Default 0: until its context ends.
	Wait time.Duration

	// Waiter is an opaque ID, up to 255 bytes, under which the lock nodes count
	// how often the caller met contention, once per call, until its lease is
	// settled or Config.WaiterTTL passes without a try. A node that
	// missed a try counts less, and the most of what is heard is told: a hint for
	// backing off, and no audit. "" is not counted.
	Waiter string

	// Record is the key whose completion record answers [DoneError] and that
	// [Lease.Finish] writes: normally Keys[0]. "" means none.
	Record string

	// MaxHold ends the lease that long after it was acquired, however healthy its
	// holder: 0 (never) or more.
	MaxHold time.Duration

	// Stall ends the lease when that long has passed without [Lease.Beat], which
	// its holder calls as its work makes progress: 0 (no matter), or 10 ms or more.
	Stall time.Duration

	// Healthy is asked before each extension, about every third of the TTL, or on
	// every tick while extensions fail, and has a third of the TTL to answer. An error, a panic or silence ends the lease. It
	// must be safe for concurrent use with the holder. nil is always healthy.
	Healthy func(ctx context.Context) error

	again bool // grant although the record says done: for a void record
}

// Key is a claim on keys alone: with the default TTL, uncounted, no record.
func Key(keys ...string) Claim { return Claim{Keys: keys} }

// maxKey has room for a job's key: a kind of 64 bytes and an ID of 200, and signs
// between them.
const (
	maxKey   = 512
	keyRange = "1 to 512 bytes of UTF-8 without control characters"
)

// checked returns the claim with its defaults, or the first bad field.
func (c Claim) checked(cfg Config) (Claim, error) {
	if len(c.Keys) == 0 || len(c.Keys) > 16 {
		return c, bad("Claim.Keys", fmt.Sprintf("%d keys", len(c.Keys)), "1 to 16 keys")
	}
	keys := make([]string, 0, len(c.Keys))
	for i, k := range c.Keys {
		if !isKey(k) {
			return c, bad(fmt.Sprintf("Claim.Keys[%d]", i), k, keyRange)
		}
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	c.Keys = keys
	if c.Record != "" && !isKey(c.Record) {
		return c, bad("Claim.Record", c.Record, keyRange)
	}
	for field, d := range map[string]time.Duration{"Claim.Wait": c.Wait, "Claim.MaxHold": c.MaxHold} {
		if d < 0 {
			return c, bad(field, d, "0 or more")
		}
	}
	if c.Stall != 0 && c.Stall < 10*time.Millisecond {
		return c, bad("Claim.Stall", c.Stall, "0, or 10ms or more")
	}
	if len(c.Waiter) > 255 {
		return c, bad("Claim.Waiter", fmt.Sprintf("%d bytes", len(c.Waiter)), "at most 255 bytes")
	}
	if c.TTL == 0 {
		c.TTL = cfg.TTL
	}
	return c, checkTTL("Claim.TTL", c.TTL, cfg.MaxTTL)
}

func isKey(k string) bool {
	return k != "" && len(k) <= maxKey && utf8.ValidString(k) && !strings.ContainsFunc(k, unicode.IsControl)
}

// margin is what a holder gives up at the end of every grant: slewing clocks may
// run apart by that much while the grant lives.
func margin(ttl time.Duration) time.Duration { return max(ttl/10, 20*time.Millisecond) }

// newNonce is unique among all attempts of all processes. It has no colon.
func newNonce() string { return rand.Text() }

// jitter is in [0, d) and depends on its seed alone: a nonce, so that rivals
// differ, and how often it was asked.
func jitter(seed string, n int, d time.Duration) time.Duration {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s/%d", seed, n)
	return time.Duration(h.Sum64() % uint64(max(d, 1)))
}
