package provider

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// Faults is how a provider misbehaves. Shares are of all calls, 0 to 1.
type Faults struct {
	MinLatency, MaxLatency time.Duration
	Unavailable            float64 // answered 503, with nothing applied
	Dropped                float64 // applied, and the connection closed without a reply
}

// Usual is the provider of the example: 5 to 30 ms, 2 % unavailable, 1 % dropped.
var Usual = Faults{MinLatency: 5 * time.Millisecond, MaxLatency: 30 * time.Millisecond, Unavailable: 0.02, Dropped: 0.01}

// fate is what happens to one call.
type fate struct {
	latency              time.Duration
	unavailable, dropped bool
}

// draw decides from the seed, the key and the number of the key's call alone:
// the same payments meet the same faults under one seed, in whatever order the
// workers bring them.
func (f Faults) draw(seed uint64, key string, call int) fate {
	sum := fnv.New64a()
	sum.Write([]byte(key))
	random := rand.New(rand.NewPCG(seed, sum.Sum64()+uint64(call)))
	spread := float64(f.MaxLatency - f.MinLatency)
	latency := f.MinLatency + time.Duration(random.Float64()*spread)
	luck := random.Float64()
	return fate{
		latency:     latency,
		unavailable: luck < f.Unavailable,
		dropped:     luck >= f.Unavailable && luck < f.Unavailable+f.Dropped,
	}
}
