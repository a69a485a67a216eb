package redlock

import (
	"fmt"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
)

var miniNodes struct {
	once  sync.Once
	nodes []*miniredis.Miniredis
}

// sharedMinis are seven in-process nodes that all tests share.
func sharedMinis(tb testing.TB, n int) []Node {
	tb.Helper()
	miniNodes.once.Do(func() {
		for range 7 {
			m := miniredis.NewMiniRedis()
			m.ClockTTL(true)
			if err := m.Start(); err != nil {
				tb.Fatal(err)
			}
			miniNodes.nodes = append(miniNodes.nodes, m)
		}
	})
	return addresses(miniNodes.nodes[:n])
}

func stopMinis() {
	for _, m := range miniNodes.nodes {
		m.Close()
	}
}

// TestConformance runs every rule that a node set of any kind and size must keep.
func TestConformance(t *testing.T) {
	rules := map[string]func(*testing.T, []Node){
		"one wins, the other hears who":                    oneWins,
		"several keys are taken all or none":               allOrNone,
		"a released key is free at once":                   releasedIsFree,
		"a release after expiry says so":                   releaseAfterExpiry,
		"a release with a cancelled context frees":         releaseWhenCancelled,
		"a release said again leaves the next lease alone": releaseSaidAgain,
		"an extension after the release arms nothing":      extensionAfterRelease,
		"an extension of an expired grant is refused":      extensionAfterExpiry,
		"a lease outlives its TTL while it is extended":    leaseIsExtended,
		"check tells who lost":                             checkTells,
		"a completion answers whoever comes later":         completionAnswers,
		"a result may be any 64 KiB":                       resultIsBinary,
		"finish said twice is said once":                   finishTwice,
		"finish after a takeover is stale":                 finishAfterTakeover,
		"finish after expiry but before a takeover counts": finishAfterExpiry,
		"a void record is none":                            voidIsNone,
		"a record on a minority is not an answer":          recordOnMinority,
		"contention is counted once a call":                contentionIsCounted,
		"a holder that died is told to the next":           diedIsTold,
		"tokens increase whatever happens":                 tokensIncrease,
		"a script that a node forgot is loaded again":      scriptForgotten,
		"a release wakes who waits":                        releaseWakes,
		"nobody overlaps":                                  nobodyOverlaps,
	}
	for kind, start := range map[string]func(testing.TB, int) []Node{"embedded": sharedMinis, "real": realNodes} {
		for _, n := range []int{1, 3, 5, 7} {
			t.Run(fmt.Sprintf("%s/%d", kind, n), func(t *testing.T) {
				nodes := start(t, n)
				for name, rule := range rules {
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						rule(t, nodes)
					})
				}
			})
		}
	}
}
