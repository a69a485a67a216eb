package queue

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
)

type notRedis struct{}

func (notRedis) MakeRedisClient() any { return "no client" }

// refused fails the test unless err names the field of this room.
func refused(t *testing.T, err error, field string) {
	t.Helper()
	e, ok := errors.AsType[*holdfast.FieldError](err)
	if !ok || e.Room != "queue" || e.Field != field || e.Want == "" {
		t.Errorf("%v does not refuse field %s", err, field)
	}
}

func TestABadConfigNamesTheField(t *testing.T) {
	cases := []struct {
		field  string
		change func(*Config)
	}{
		{"Redis", func(c *Config) { c.Redis = nil }},
		{"Redis", func(c *Config) { c.Redis = notRedis{} }},
		{"Queue", func(c *Config) { c.Queue = "a b" }},
		{"Timeout", func(c *Config) { c.Timeout = time.Millisecond }},
		{"Retention", func(c *Config) { c.Retention = -1 }},
		{"MaxAttempts", func(c *Config) { c.MaxAttempts = -1 }},
		{"MaxPayload", func(c *Config) { c.MaxPayload = 1<<10 - 1 }},
		{"MaxPayload", func(c *Config) { c.MaxPayload = 64<<20 + 1 }},
		{"MaxOverrun", func(c *Config) { c.MaxOverrun = -2 }},
		{"MaxOverrun", func(c *Config) { c.MaxOverrun = 25 * time.Hour }},
		{"SendTimeout", func(c *Config) { c.SendTimeout = time.Millisecond }},
		{"Parallel", func(c *Config) { c.Parallel = 257 }},
	}
	for _, c := range cases {
		config := Config{Redis: asynq.RedisClientOpt{Addr: "127.0.0.1:1"}}
		c.change(&config)
		_, err := New(config)
		refused(t, err, c.field)
	}
}

func TestAConfigWithoutRedisSaysSoInOneSentence(t *testing.T) {
	const want = "queue: Redis: <nil> is not accepted: want an asynq.RedisConnOpt"
	if _, err := New(Config{}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestTheZeroConfigIsTheDefaults(t *testing.T) {
	c := Config{}.withDefaults()
	if c.Queue != "default" || c.Timeout != 30*time.Minute || c.Retention != 24*time.Hour || c.MaxAttempts != 25 ||
		c.MaxPayload != 262144 || c.MaxOverrun != time.Minute || c.SendTimeout != 3*time.Second || c.Parallel != 16 || c.Logger == nil {
		t.Errorf("defaults %+v", c)
	}
}

func TestAnyRedisOptionOfAsynqWillDo(t *testing.T) {
	for _, o := range []asynq.RedisConnOpt{
		&asynq.RedisClientOpt{Addr: "127.0.0.1:1"},
		asynq.RedisFailoverClientOpt{MasterName: "m", SentinelAddrs: []string{"127.0.0.1:1"}},
		asynq.RedisClusterClientOpt{Addrs: []string{"127.0.0.1:1"}},
	} {
		c, err := New(Config{Redis: o})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.Close(), c.Close()); err != nil {
			t.Errorf("%T: close, twice: %v", o, err)
		}
	}
}

// unreachable is a client whose Redis does not exist: what it refuses, it
// refused before it sent anything.
func unreachable(t *testing.T) bundle {
	return setup(t, asynq.RedisClientOpt{Addr: "127.0.0.1:1"}, func(c *Config) { c.MaxPayload = 1 << 10 })
}

func TestABadOptionNamesTheFieldAndSendsNothing(t *testing.T) {
	b, now := unreachable(t), time.Now()
	cases := map[string][][]Option{
		"Queue":       {{On("")}, {On("a{b}")}, {On("a/b")}, {On("a b")}, {On("a\n")}, {On("\xff")}, {On(strings.Repeat("q", 101))}},
		"Timeout":     {{Timeout(999 * time.Millisecond)}, {Timeout(-1)}, {Timeout(0)}, {Timeout(721 * time.Hour)}},
		"Retention":   {{Retention(1)}, {Retention(999 * time.Millisecond)}, {Retention(-time.Hour)}, {Retention(8761 * time.Hour)}},
		"MaxAttempts": {{MaxAttempts(0)}, {MaxAttempts(-1)}, {MaxAttempts(1001)}},
		"Delay":       {{Delay(-1)}, {Delay(8761 * time.Hour)}},
		"At":          {{At(time.Time{})}, {At(now.Add(8761 * time.Hour))}, {Delay(time.Second), At(now)}},
		"Options[0]":  {{nil}},
		"Options[1]":  {{Delay(time.Hour), nil}},
		"Deadline": {
			{Deadline(time.Time{})},
			{Deadline(now.Add(-time.Second))},
			{Deadline(now.Add(time.Minute)), Delay(time.Hour)},
			{Deadline(now.Add(time.Minute)), At(now.Add(time.Hour))},
			{Deadline(now.Add(-time.Hour)), At(now.Add(-2 * time.Hour))},
		},
	}
	for field, calls := range cases {
		for _, options := range calls {
			_, err := b.Enqueue(t.Context(), charge{ID: "ch_1"}, options...)
			refused(t, err, field)
		}
	}
}
