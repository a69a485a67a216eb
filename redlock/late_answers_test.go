package redlock

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

func TestAnExtensionWhoseAnswersComeAfterTheTTLIsNoSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, clock, l := bubble(t, 1)
		s := take(t, l, Key("k"))
		stall(s) // no tick tells it first
		m[0].Server().SetPreHook(func(_ *server.Peer, cmd string, _ ...string) bool {
			if cmd == "EVALSHA" {
				clock.advance(l.cfg.TTL)
			}
			return false
		})
		err := s.Check(t.Context())
		if lost, ok := errors.AsType[*LostError](err); !ok || lost.Why != LostExpired {
			t.Fatal(err)
		}
	})
}

func TestAnExtensionsAnswerAfterTheReleaseArmsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, clock, l := bubble(t, 3)
		s := take(t, l, Key("k"))
		before := s.end()
		pause(t.Context(), 100*time.Millisecond)
		s.confirm(0, clock.Now())
		s.confirm(1, clock.Now())
		if s.end() <= before {
			t.Fatal("control: an answer in time arms")
		}
		release(t, s, Released)
		before = s.end()
		pause(t.Context(), 100*time.Millisecond)
		for i := range l.nodes {
			s.confirm(i, clock.Now())
		}
		if s.end() != before {
			t.Fatal("armed after its release")
		}
	})
}
