package redlock

import "strings"

// modelClaim is what an acquire asks.
type modelClaim struct {
	modelAsk
	nonce      string
	token, ttl int64
	ask        string
	waiter     string
	visit      string
	waiterLife int64
}

func modelClaimOf(a modelAsk) modelClaim {
	c := modelClaim{modelAsk: a, nonce: a.args[0], token: parse(a.args[1]), ttl: parse(a.args[2]), ask: doneNone}
	if a.full {
		c.ask, c.waiter, c.visit, c.waiterLife = a.args[3], a.args[4], a.args[5], parse(a.args[6])
	}
	return c
}

// says is an answer without a record.
func says(code string, fields ...int64) string {
	for _, f := range fields {
		code += " " + number(f)
	}
	return code
}

func (m *modelNode) acquire(l modelLife, a modelAsk) string {
	if m.now < l.boot {
		return codeRejoin
	}
	c := modelClaimOf(a)
	if m.now < l.ready() && !m.without.noQuarantine {
		return says(codeQuarantined, l.ready())
	}
	if c.token > m.now+l.bound && !m.without.noBound {
		return codeFuture
	}
	done := ""
	if c.ask != doneNone {
		done, _ = m.text(c.done)
	}
	if c.ask == doneAsk && done != "" && strings.Split(done, ":")[1] != kindVoid {
		return codeDone + "\n" + done
	}
	waited := m.waited(c)
	for i, key := range c.records {
		if r := m.record(key); r.alive(m.now) && r.grant.nonce != c.nonce {
			waited = m.contend(c, i, waited)
			return says(codeHeld, int64(i+1), r.grant.token, r.deadline, waited.count, waited.since)
		}
	}
	return m.vote(l, c, done, waited)
}

// vote answers a claim that nobody else is in the way of.
func (m *modelNode) vote(l modelLife, c modelClaim, done string, waited modelWaiter) string {
	var floor, granted int64
	if !m.without.noExpiredFloor {
		floor = m.now - l.fenceTTL + l.bound
	}
	if !m.without.noBootFloor {
		floor = max(floor, l.floor())
	}
	kept := 0
	var displaced []int64
	for _, key := range c.records {
		r := m.record(key)
		floor = max(floor, r.floor)
		if r.alive(m.now) && r.grant.token >= c.token { // ours, or it would be held
			kept++
			granted = max(granted, r.grant.token)
		}
		d := r.displaced(c.nonce)
		displaced = append(displaced, d.token, int64(d.state-'0'))
	}
	if kept < len(c.records) {
		if c.token <= floor && !m.without.lowIsFine {
			return says(codeLow, floor)
		}
		granted = c.token
		for _, key := range c.records {
			m.set(key, modelRecord{
				floor: granted, grant: modelGrant{granted, stateHeld, c.nonce}, deadline: m.now + c.ttl,
				prev: m.record(key).displaced(c.nonce),
			}, l.keeps())
		}
	}
	said := says(codeOK, append([]int64{granted, waited.count, waited.since}, displaced...)...)
	if done != "" {
		said += "\n" + done
	}
	return said
}

// waited is what the keys of a claim know of its waiter: the most that one does.
func (m *modelNode) waited(c modelClaim) (most modelWaiter) {
	if c.waiter == "" {
		return most
	}
	for _, key := range c.waiters {
		w, ok := m.waiters(key)[c.waiter]
		if ok && w.last > m.now-c.waiterLife && w.count > most.count {
			most = w
		}
	}
	return most
}

// contend counts a try that met a holder: once a visit, and not when a later try
// of the waiter's was here before it. Who has stopped trying is forgotten; a real
// node looks at two waiters only, which differs from this while there are more.
func (m *modelNode) contend(c modelClaim, key int, w modelWaiter) modelWaiter {
	if c.waiter == "" || c.token <= w.token {
		return w
	}
	if w.count == 0 {
		w.since = m.now
	}
	if w.visit != c.visit {
		w.count++
	}
	w.last, w.token, w.visit = m.now, c.token, c.visit
	m.change(c.waiters[key], (c.waiterLife+999)/1000, func(all modelWaiters) {
		all[c.waiter] = w
		for id, other := range all {
			if other.last <= m.now-c.waiterLife {
				delete(all, id)
			}
		}
	})
	return w
}
