package queue

import (
	"testing"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

// TestConformance runs every rule that Redis has a part in, on each Redis.
func TestConformance(t *testing.T) {
	stores := map[string]func(t *testing.T) asynq.RedisClientOpt{
		"embedded": inProcess,
		"real":     func(t *testing.T) asynq.RedisClientOpt { return at(t, servers.RedisNodes(t, 1)[0].URL()) },
	}
	rules := map[string]func(*testing.T, asynq.RedisClientOpt){
		"an entry carries what was asked for":                entryCarriesOptions,
		"a delayed job never starts early":                   delayedNeverEarly,
		"jobs without ID never collide":                      freshIDs,
		"one of many at once is queued":                      oneOfMany,
		"a duplicate is told the state":                      duplicateStates,
		"another producer's entry is compared by payload":    foreignEntries,
		"an entry that is gone at the second look is no bar": goneInBetween,
		"an entry that comes and goes ends in an error":      comesAndGoes,
		"a queue that was forgotten is found again":          forgottenQueue,
		"bulk outcomes keep their index":                     bulkOutcomes,
		"a lost reply is success":                            lostReply,
		"no reply at all leaves one entry":                   noReplyAtAll,
		"no result comes with the reason":                    noResult,
		"only a finished job runs again":                     onlyFinishedAgain,
		"a job without an entry has its record made void":    againWithoutEntry,
	}
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			redis := store(t)
			for name, rule := range rules {
				t.Run(name, func(t *testing.T) { rule(t, redis) })
			}
		})
	}
}
