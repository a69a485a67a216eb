package redlock

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// foreign is a context that package context can only follow with a goroutine per
// context that comes from it, until that is cancelled: so they can be counted.
type foreign struct{ context.Context }

func (foreign) Value(any) any { return nil }

func followers() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), "created by context.(*cancelCtx).propagateCancel")
}

func TestAWinThatComesTooLateLeavesNothingInTheCallersContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, clock, l := bubble(t, 1)
		before := followers()
		try := func(key string, want error, more int) *Lease {
			t.Helper()
			s, err := l.TryAcquire(foreign{t.Context()}, Key(key))
			synctest.Wait()
			if n := followers() - before; !errors.Is(err, want) || n != more {
				t.Errorf("%v, and %d contexts live on, want %v and %d", err, n, want, more)
			}
			return s
		}
		release(t, try("a", nil, 1), Released) // control: the lease's own
		m[0].Server().SetPreHook(func(*server.Peer, string, ...string) bool {
			clock.advance(time.Second) // the process slept while it waited
			return false
		})
		try("b", ErrNoQuorum, 0)
		m[0].Server().SetPreHook(nil)
		pause(t.Context(), l.cfg.MaxTTL) // until the node votes again, whose clock seems to have stepped
		l.keeper.close()
		try("c", ErrClosed, 0)
	})
}
