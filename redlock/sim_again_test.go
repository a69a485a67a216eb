package redlock

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// hushed loses the first replies that grant something.
type hushed struct {
	wire
	left *int
}

func (h hushed) pin() wire { return h }

func (h hushed) pipeline(ctx context.Context, cmds [][]any) []answer {
	answers := h.wire.pipeline(ctx, cmds)
	if a := answers[0].text; *h.left > 0 && cmds[0][0] == "EVALSHA" && readReply(a[1]).code == codeOK {
		*h.left--
		<-ctx.Done()
		return (&simMessage{cmds: cmds}).failed(ctx.Err())
	}
	return answers
}

// A reply is lost, the same token is proposed again, and the node says again that
// it granted it. The grant runs out a TTL after the first request, and so does the
// lease: a random schedule found two holders where it was counted from the second.
func TestAGrantThatIsToldAgainIsNoYounger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := simConfig(t, 1)
		clock := newHandClock()
		cfg.Clock = clock
		net := &simNet{kick: make(chan struct{}, 1)}
		at := time.Now()
		node := newModelNode("a", func() int64 { return benchStart + time.Since(at).Microseconds() })
		node.plant(cfg.Namespace+"marker", node.runID()+":1:"+configText(cfg), 0)
		net.direct = func(m *simMessage) []answer { return node.pipeline(m.cmds) }
		replies := 1
		l, err := assemble(cfg, []wire{hushed{simWire{net: net, life: &simLife{dead: make(chan struct{})}, sent: new(int)}, &replies}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		s, err := l.TryAcquire(t.Context(), Key("k"))
		if err != nil || replies != 0 {
			t.Fatal(err, replies)
		}
		left := time.Duration(node.held()[l.recordKey("k")].until-benchStart)*time.Microsecond - time.Since(at)
		if valid := s.end() - clock.Now(); valid > left-margin(cfg.TTL) {
			t.Errorf("valid for another %v, when the node forgets it in %v", valid, left)
		}
	})
}
