package redlock

import (
	"fmt"
	"sync"
	"testing"

	"github.com/holdfastjobs/holdfast/embedded"
)

var fleet struct {
	once sync.Once
	*embedded.Fleet
	err error
}

// embeddedNodes are the first n of seven that all tests of the package share.
func embeddedNodes(tb testing.TB, n int) []Node {
	tb.Helper()
	fleet.once.Do(func() { fleet.Fleet, fleet.err = embedded.Start(7) })
	if fleet.err != nil {
		tb.Fatal(fleet.err)
	}
	return URLs(fleet.Locks()[:n]...)
}

func stopFleet() {
	if fleet.Fleet != nil {
		_ = fleet.Close()
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
		"check tells who lost":                             checkTells,
		"a completion answers whoever comes later":         completionAnswers,
		"a result may be any 64 KiB":                       resultIsBinary,
		"finish said twice is said once":                   finishTwice,
		"finish said again frees what it had left":         finishFreesTheRest,
		"finish after a takeover is stale":                 finishAfterTakeover,
		"finish after expiry but before a takeover counts": finishAfterExpiry,
		"a void record is none":                            voidIsNone,
		"a record made void lets the job run again":        voidLetsItRunAgain,
		"who makes a record void waits for the holder":     voidWaitsForTheHolder,
		"times need not be whole milliseconds":             timesAreNotWhole,
		"a record on a minority is not an answer":          recordOnMinority,
		"contention is counted once a call":                contentionIsCounted,
		"a holder that died is told to the next":           diedIsTold,
		"a release wakes who waits":                        releaseWakes,
		"a wait may have an end":                           waitEnds,
		"a lease is not taken again below itself":          nestedIsRefused,
		"nobody overlaps":                                  nobodyOverlaps,
		"a script keeps its word":                          scriptsKeep,
		"an error is of one request alone":                 errorsStayApart,
	}
	for kind, start := range map[string]func(testing.TB, int) []Node{"embedded": embeddedNodes, "real": realNodes} {
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
