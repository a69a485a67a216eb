package redlock

import (
	"strconv"
	"strings"
)

// modelRecord is what a node keeps of a key.
type modelRecord struct {
	floor    int64
	grant    modelGrant
	deadline int64
	prev     modelGrant // what grant displaced
}

type modelGrant struct {
	token int64
	state byte
	nonce string
}

const (
	stateReleased = '0'
	stateHeld     = '1'
	stateDead     = '2' // free, but never cleaned up
)

var noGrant = modelGrant{state: stateReleased}

func (r modelRecord) alive(now int64) bool { return r.grant.state == stateHeld && r.deadline > now }

// displaced is what a grant to nonce displaces. A later grant to the same attempt
// stands where its first one stood.
func (r modelRecord) displaced(nonce string) modelGrant {
	d := r.grant
	if d.nonce == nonce && d.state != stateReleased {
		return r.prev
	}
	if d.state == stateHeld {
		d.state = stateDead
	}
	return d
}

func (r modelRecord) text() string {
	g, p := r.grant, r.prev
	return strings.Join([]string{
		number(r.floor), number(g.token), string(g.state), number(r.deadline), g.nonce,
		number(p.token), string(p.state), p.nonce,
	}, ":")
}

func parseRecord(text string) (modelRecord, bool) {
	f := strings.Split(text, ":")
	if len(f) != 8 {
		return modelRecord{}, false
	}
	var n [8]int64
	for _, i := range []int{0, 1, 2, 3, 5, 6} {
		var err error
		if n[i], err = strconv.ParseInt(f[i], 10, 64); err != nil {
			return modelRecord{}, false
		}
	}
	return modelRecord{
		floor: n[0], grant: modelGrant{token: n[1], state: f[2][0], nonce: f[4]}, deadline: n[3],
		prev: modelGrant{token: n[5], state: f[6][0], nonce: f[7]},
	}, true
}

// modelWaiter is what a node keeps of somebody who met contention.
type modelWaiter struct {
	count, since, last, token int64
	visit                     string
}

func (w modelWaiter) text() string {
	return strings.Join([]string{number(w.count), number(w.since), number(w.last), number(w.token), w.visit}, ":")
}

// modelWaiters are never changed in place: an older state may hold them.
type modelWaiters map[string]modelWaiter
