package redlock

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast"
)

// refused checks that err is a FieldError of this room for field.
func refused(tb testing.TB, err error, field string) {
	tb.Helper()
	fe, ok := errors.AsType[*holdfast.FieldError](err)
	if !ok || fe.Room != "redlock" || fe.Field != field || fe.Want == "" {
		tb.Errorf("%v, want %q refused", err, field)
	}
}

func three() []Node { return URLs("redis://a:1", "redis://b:1", "redis://c:1") }

func TestBadConfigIsRefusedByName(t *testing.T) {
	for field, configs := range map[string][]Config{
		"Nodes": {
			{},
			{Nodes: URLs("redis://a", "redis://b")},
			{Nodes: URLs("redis://a", "redis://b", "redis://c", "redis://d")},
			{Nodes: make([]Node, 9)},
		},
		"Nodes[1]":         {{Nodes: URLs("redis://a", "x=redis://a", "redis://c")}, {Nodes: URLs("redis://a", "http://b", "redis://c")}},
		"Nodes[1].Name":    {{Nodes: URLs("redis://a", "x y=redis://b", "redis://c")}, {Nodes: URLs("n=redis://a", "n=redis://b", "redis://c")}},
		"Nodes[2].Options": {{Nodes: []Node{{Options: &redis.Options{Addr: "a"}}, {Options: &redis.Options{Addr: "b"}}, {}}}},
		"TTL": {
			{Nodes: three(), TTL: -1},
			{Nodes: three(), TTL: 999 * time.Microsecond},
			{Nodes: three(), TTL: 99 * time.Millisecond},
			{Nodes: three(), TTL: 10*time.Second + time.Millisecond},
		},
		"MaxTTL":      {{Nodes: three(), MaxTTL: time.Millisecond}, {Nodes: three(), MaxTTL: time.Hour}},
		"Bound":       {{Nodes: three(), Bound: -1}},
		"FenceTTL":    {{Nodes: three(), FenceTTL: 24 * time.Second}},
		"Retention":   {{Nodes: three(), Retention: time.Millisecond}},
		"WaiterTTL":   {{Nodes: three(), WaiterTTL: time.Millisecond}},
		"NodeTimeout": {{Nodes: three(), NodeTimeout: 49 * time.Millisecond}, {Nodes: three(), NodeTimeout: 201 * time.Millisecond}},
		"Namespace":   {{Nodes: three(), Namespace: "a b"}, {Nodes: three(), Namespace: strings.Repeat("x", 65)}},
	} {
		for _, c := range configs {
			_, err := New(c)
			refused(t, err, field)
		}
	}
}

func TestABadURLIsNamedWithoutItsPassword(t *testing.T) {
	for _, url := range []string{"redis://u:s3cret@h:port/x", "http://u:s3cret@h:1", "redis://u:s3cret@h:1?no_such=1", "u:s3cret@h", "n=redis://:s3cret@h:1/notanumber", "redis://h:1?password=s3cret&x=%zz"} {
		_, err := New(Config{Nodes: URLs("redis://a", url, "redis://c")})
		refused(t, err, "Nodes[1]")
		if strings.Contains(err.Error(), "s3cret") {
			t.Error(err)
		}
	}
}

func TestDefaultsFollowWhatIsGiven(t *testing.T) {
	c, err := Config{Nodes: three()}.withDefaults()
	if err != nil || c.TTL != 5*time.Second || c.MaxTTL != 10*time.Second || c.Bound != 5*time.Second || c.FenceTTL != time.Minute ||
		c.Retention != 24*time.Hour || c.WaiterTTL != 5*time.Minute || c.NodeTimeout != 100*time.Millisecond || c.Namespace != "holdfast:" {
		t.Fatalf("%+v, %v", c, err)
	}
	if c, err = (Config{Nodes: three(), MaxTTL: time.Second}).withDefaults(); err != nil || c.TTL != time.Second {
		t.Fatal(c.TTL, err)
	}
	if c, err = (Config{Nodes: three(), MaxTTL: time.Minute}).withDefaults(); err != nil || c.FenceTTL != 125*time.Second {
		t.Fatal(c.FenceTTL, err)
	}
}

func TestBadClaimsAreRefusedByName(t *testing.T) {
	l := newLocker(t, three()) // never spoken to
	for field, claims := range map[string][]Claim{
		"Claim.Keys":    {{}, Key(make([]string, 17)...)},
		"Claim.Keys[1]": {Key("a", ""), Key("a", strings.Repeat("k", 513)), Key("a", "b\n"), Key("a", "\xff")},
		"Claim.Record":  {{Keys: []string{"a"}, Record: "\x00"}},
		"Claim.Waiter":  {{Keys: []string{"a"}, Waiter: strings.Repeat("w", 256)}},
		"Claim.TTL":     {{Keys: []string{"a"}, TTL: -1}, {Keys: []string{"a"}, TTL: 99 * time.Millisecond}, {Keys: []string{"a"}, TTL: 11 * time.Second}},
	} {
		for _, c := range claims {
			_, err := l.TryAcquire(t.Context(), c)
			refused(t, err, field)
			_, err = l.Acquire(t.Context(), c)
			refused(t, err, field)
		}
	}
	_, _, err := l.Record(t.Context(), "")
	refused(t, err, "key")
}

func TestTheKeyOfAJobWithTheLongestKindAndIDIsAccepted(t *testing.T) {
	l := newLocker(t, embeddedNodes(t, 1))
	key := "j/" + strings.Repeat("k", 64) + "/" + strings.Repeat("i", 200)
	release(t, take(t, l, job(key)), Released)
	if err := l.Accepts(Key(strings.Repeat("k", 512))); err != nil {
		t.Error(err)
	}
}

func TestOurClientsNeverRepeatACommand(t *testing.T) {
	user := &redis.Options{Addr: "a:1", Username: "u", Password: "p", MaxRetries: 9, ReadTimeout: time.Hour, PoolSize: 3}
	o := ownOptions(user, 100*time.Millisecond)
	if o.MaxRetries != -1 || !o.ContextTimeoutEnabled || o.ReadTimeout != 100*time.Millisecond || o.PoolTimeout != 100*time.Millisecond ||
		o.DialerRetries != 1 || o.Username != "u" || o.Password != "p" || o.PoolSize < 100 {
		t.Errorf("%+v", o)
	}
	if user.MaxRetries != 9 || user.ReadTimeout != time.Hour {
		t.Error("the user's options were changed")
	}
}
