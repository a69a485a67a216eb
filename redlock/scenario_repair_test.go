package redlock

import (
	"strconv"
	"strings"
	"testing"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

// Two nodes forget the lock, one after the other. Between the two the holder has
// set it again on the first.
func TestALockThatIsRepairedOutlivesTheNextNodesLoss(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	l, rival := rigLocker(t, r.direct()), rigLocker(t, r.direct())
	key := newKey(t)
	s := await(t, l, Key(key))
	has := func(i int) bool {
		return strings.Contains(r.record(t, i, key), ":"+strconv.FormatInt(s.Token(), 10)+":1:")
	}
	for i := range r.servers {
		if err := r.servers[i].Wipe(); err != nil {
			t.Fatal(err)
		}
		if r.record(t, i, key) != "" {
			t.Fatal("control: the node forgets")
		}
		eventually(t, "repaired", func() bool { return has(i) })
		if next, err := rival.TryAcquire(t.Context(), Key(key)); err == nil {
			t.Fatalf("after node %d: tokens %d and %d hold it", i, s.Token(), next.Token())
		}
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	release(t, s, Released)
}

// The control of repair: two nodes at once are more than it can mend, and then
// the restart gate alone keeps a rival out until the lock has run out.
func TestTwoNodesThatForgetAtOnceLetNobodyInEarly(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	d := r.door(t)
	l, rival := rigLocker(t, d.nodes), rigLocker(t, r.direct())
	key := newKey(t)
	s := await(t, l, Key(key))
	each(t, (*servers.Proxy).BlackHole, d.proxies...) // no repair
	allAtOnce(2, func(i int) {
		if err := r.servers[i].Wipe(); err != nil {
			t.Error(err)
		}
	})
	next := await(t, rival, Key(key))
	if s.Context().Err() == nil {
		t.Errorf("tokens %d and %d hold it", s.Token(), next.Token())
	}
}
