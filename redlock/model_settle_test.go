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

func (m *modelNode) settle(l modelLife, a modelAsk) string {
	e := modelEnd{nonce: a.args[0], token: parse(a.args[1]), mode: a.args[2]}
	channels, waiter := a.args[3:3+len(a.records)], ""
	code := codeOK
	for _, key := range a.records {
		if r := m.record(key); !e.mine(r) && (!e.said(r) || e.mode == modeFinish) {
			code = codeNone
		}
	}
	if a.full {
		rest := a.args[3+len(a.records):]
		waiter = rest[2]
		if e.mode == modeFinish {
			code = m.finish(e, a.done, rest[0], parse(rest[1]), code == codeOK)
		}
	}
	for i, key := range a.records {
		r := m.record(key)
		m.set(key, m.ended(l, e, r), l.keeps())
		if e.mine(r) && m.publish != nil {
			m.publish(channels[i], number(e.token))
		}
		if waiter == "" || e.mode == modeAbandon {
			continue
		}
		if _, waits := m.waiters(a.waiters[i])[waiter]; waits {
			m.change(a.waiters[i], 0, func(all modelWaiters) { delete(all, waiter) })
		}
	}
	return code
}

// finish keeps a completion record, if all keys are still the tenure's.
func (m *modelNode) finish(e modelEnd, key, done string, retention int64, ours bool) string {
	present, _ := m.text(key)
	token, _, _ := strings.Cut(present, ":")
	switch {
	case token == number(e.token):
	case ours, m.without.staleIsFine:
		m.set(key, done, retention)
	default:
		return codeStale
	}
	return codeOK
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
