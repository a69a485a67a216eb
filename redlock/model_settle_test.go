package redlock

import "strings"

// modelEnd is what the settle script is told.
type modelEnd struct {
	nonce string
	token int64 // the highest that the attempt proposed
	mode  string
}

func (e modelEnd) ours(g modelGrant) bool { return g.nonce == e.nonce && g.token <= e.token }

// mine says that the record is the attempt's to end: also when it expired and
// nobody took the key since.
func (e modelEnd) mine(r modelRecord) bool {
	return e.ours(r.grant) && (r.grant.state == stateHeld || r.grant.state == stateDead && e.mode != modeAbandon)
}

// said says that the record was released by the same settlement before.
func (e modelEnd) said(r modelRecord) bool {
	return e.mode != modeAbandon && r.grant == modelGrant{e.token, stateReleased, e.nonce}
}

func (m *modelNode) settle(l modelLife, keys, args []string) []string {
	if m.gone(l, keys[0]) {
		return []string{codeRejoin}
	}
	e := modelEnd{nonce: args[0], token: parse(args[1]), mode: args[2]}
	done, retention, waiter, channels := args[3], args[4], args[5], args[6:]
	code := codeOK
	for i := 2; i < len(keys); i += 2 {
		if r := m.record(keys[i]); !e.mine(r) && (!e.said(r) || e.mode == modeFinish) {
			code = codeNone
		}
	}
	if e.mode == modeFinish {
		present, _ := m.text(keys[1])
		token, _, _ := strings.Cut(present, ":")
		switch {
		case token == number(e.token):
			code = codeOK
		case code == codeOK, m.without.staleIsFine:
			m.set(keys[1], done, parse(retention))
		default:
			code = codeStale
		}
	}
	for i := 2; i < len(keys); i += 2 {
		r := m.record(keys[i])
		m.set(keys[i], m.ended(l, e, r), l.keeps())
		if e.mine(r) && m.publish != nil {
			m.publish(channels[i/2-1], number(e.token))
		}
		if _, waits := m.waiters(keys[i+1])[waiter]; waits && e.mode != modeAbandon {
			m.change(keys[i+1], 0, func(all modelWaiters) { delete(all, waiter) })
		}
	}
	return []string{code, number(m.now)}
}

// ended is what a record becomes.
func (m *modelNode) ended(l modelLife, e modelEnd, r modelRecord) modelRecord {
	mine := e.mine(r)
	raise := e.token <= m.now+l.bound || m.without.noBound
	released := modelGrant{e.token, stateReleased, e.nonce}
	switch {
	case e.mode == modeAbandon:
		raise = raise && !m.without.noRaisedFloorOnAbandon
		if mine { // what it displaced comes back
			r.grant, r.deadline, r.prev = r.prev, 0, noGrant
		}
	case mine:
		r.grant, r.deadline = released, 0
	case e.said(r):
	case e.ours(r.prev): // a later tenure stands on it
		r.prev.state = stateReleased
	case r.grant.state == stateHeld && (r.grant.token > e.token || r.alive(m.now)): // the node missed its grant, and another's stands
		if r.prev.token < e.token {
			r.prev = released
		}
	case r.grant.token < e.token:
		r.grant, r.deadline = released, 0
	}
	if raise {
		r.floor = max(r.floor, e.token+1)
	}
	return r
}
