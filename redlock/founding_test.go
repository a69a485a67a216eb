package redlock

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

func TestOfTwoFleetsThatStartAtOnceOneWins(t *testing.T) {
	t.Parallel()
	for round := range 30 {
		space := "founding" + strconv.Itoa(round) + ":"
		var rivals [2]*Locker
		var ends [2]chan error
		for i := range rivals {
			nodes := slices.Clone(realNodes(t, 5))
			if i == 1 {
				slices.Reverse(nodes) // the order of the names decides, and not this
			}
			rivals[i] = freshLocker(t, nodes, func(c *Config) {
				c.TTL, c.MaxTTL, c.Namespace = 100*time.Millisecond, 100*time.Millisecond, space
				c.Bound = time.Duration(1+i) * time.Second
			})
			rivals[i].cfg.NodeTimeout = 2 * time.Second // the rounds are to end by rule, and not by haste
			ends[i] = make(chan error, 1)
		}
		for i, l := range rivals {
			go func() { ends[i] <- l.Ready(t.Context()) }()
		}
		errs := [2]error{<-ends[0], <-ends[1]}
		winner := slices.Index(errs[:], nil)
		if winner < 0 || errs[1-winner] == nil {
			t.Fatalf("round %d: %v", round, errs)
		}
		won, lost := rivals[winner], rivals[1-winner]
		refused, ok := errors.AsType[*ConfigError](errs[1-winner])
		if !ok || refused.Ours != lost.config || refused.Theirs != won.config {
			t.Fatalf("round %d: %v", round, errs[1-winner])
		}
		calm(won)
		for i, config := range markers(t, won) {
			if config != won.config {
				t.Errorf("round %d: the loser has node %d", round, i)
			}
		}
	}
}

func TestAWipedNodeIsNotStolenByAnotherConfiguration(t *testing.T) {
	t.Parallel()
	processes := servers.RedisNodes(t, 3)
	l := fleetOf(t, processes)
	if err := l.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := fleetOf(t, processes, func(c *Config) { c.Bound = time.Second })
	for i := range processes {
		if err := l.nodes[i].client().FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		var refused *ConfigError
		eventually(t, "it asks every node", func() bool { // each time with one of them blank
			err := other.Ready(t.Context())
			refused, _ = errors.AsType[*ConfigError](err)
			return refused != nil
		})
		if refused.Theirs != l.config || refused.Ours != other.config {
			t.Error(refused)
		}
		for _, n := range other.nodes {
			marker, err := n.get(t.Context(), l.markerKey())
			if err == nil && configOf(marker) != l.config {
				t.Errorf("node %d was stolen: %s", i, marker)
			}
		}
		eventually(t, "its own fleet marks it again", func() bool {
			calm(l)
			_, _ = l.TryAcquire(t.Context(), Key("k"))
			marker, err := l.nodes[i].get(t.Context(), l.markerKey())
			return err == nil && configOf(marker) == l.config
		})
	}
}
