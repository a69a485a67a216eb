package redlock

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

// nodeFault is done to one node, or to the ways to it, for a while.
type nodeFault struct {
	inflict func(node int, lasts time.Duration) error
	undo    func(node int) error
}

// faults are what a history has to survive, on a rig and one of the doors to it.
func (r rig) faults(ctx context.Context, d door) map[string]nodeFault {
	nothing := func(int) error { return nil }
	at := func(f func(*servers.Redis) error) func(int, time.Duration) error {
		return func(i int, _ time.Duration) error { return f(r.servers[i]) }
	}
	heal := func(i int) error { return d.proxies[i].Heal() }
	way := func(f func(*servers.Proxy) error) func(int, time.Duration) error {
		return func(i int, _ time.Duration) error { return f(d.proxies[i]) }
	}
	return map[string]nodeFault{
		"kill -9 and restart": {at((*servers.Redis).Restart), nothing},
		"down": {
			at(func(s *servers.Redis) error { s.Kill(); return nil }),
			func(i int) error { return r.servers[i].Start() },
		},
		"SIGSTOP": {at((*servers.Redis).Pause), func(i int) error { return r.servers[i].Resume() }},
		"CLIENT PAUSE": {func(i int, lasts time.Duration) error {
			_, err := r.servers[i].Command(ctx, "CLIENT", "PAUSE", strconv.FormatInt(lasts.Milliseconds(), 10), "ALL")
			return err
		}, nothing},
		"dropped replies": {way((*servers.Proxy).DropReplies), heal},
		"black hole":      {way((*servers.Proxy).BlackHole), heal},
		"cut":             {way(func(p *servers.Proxy) error { p.Cut(); return nil }), heal},
		"cut off": { // one half of the workers from all nodes
			func(int, time.Duration) error {
				return errors.Join(d.proxies[0].BlackHole(), d.proxies[1].BlackHole(), d.proxies[2].BlackHole())
			},
			func(int) error { return errors.Join(heal(0), heal(1), heal(2)) },
		},
	}
}

// clockFault moves a node's clock to anywhere within the range.
func (r rig) clockFault(within time.Duration) nodeFault {
	return nodeFault{func(i int, _ time.Duration) error {
		return r.servers[i].ShiftClock(rand.N(within) - within/2)
	}, func(int) error { return nil }}
}

// vanish deletes the records on all nodes, and leaves everything else.
func (r rig) vanish(ctx context.Context) nodeFault {
	return nodeFault{func(int, time.Duration) (err error) {
		for _, s := range r.servers {
			_, e := s.Command(ctx, "EVAL", "for _, k in ipairs(redis.call('KEYS', '*lock:*')) do redis.call('DEL', k) end", "0")
			err = errors.Join(err, e)
		}
		return err
	}, func(int) error { return nil }}
}

// torment does one fault after the other until ctx ends, all kinds as often, and
// returns how many. It leaves the nodes well.
func torment(ctx context.Context, tb testing.TB, nodes int, faults map[string]nodeFault, longest time.Duration) (done int) {
	kinds := slices.Sorted(maps.Keys(faults))
	for ctx.Err() == nil {
		rand.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		for _, kind := range kinds {
			node, lasts := rand.IntN(nodes), longest/10+rand.N(longest)
			if err := faults[kind].inflict(node, lasts); err != nil && ctx.Err() == nil {
				tb.Errorf("%s: %v", kind, err)
			}
			rest(ctx, lasts)
			if err := faults[kind].undo(node); err != nil {
				tb.Errorf("after %s: %v", kind, err)
			}
			if !rest(ctx, rand.N(longest)) {
				return done
			}
			done++
		}
	}
	return done
}
