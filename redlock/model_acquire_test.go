package redlock

import "strings"

// modelClaim is what the acquire script is asked.
type modelClaim struct {
	nonce      string
	token, ttl int64
	ask        string
	waiter     string
	visit      string
	waiterLife int64
	records    []string
	waiters    []string
}

func modelClaimOf(keys, args []string) modelClaim {
	c := modelClaim{
		nonce: args[0], token: parse(args[1]), ttl: parse(args[2]), ask: args[3],
		waiter: args[4], visit: args[5], waiterLife: parse(args[6]),
	}
	for i := 2; i < len(keys); i += 2 {
		c.records, c.waiters = append(c.records, keys[i]), append(c.waiters, keys[i+1])
	}
	return c
}

func (m *modelNode) acquire(l modelLife, keys, args []string) []string {
	if m.gone(l, keys[0]) || m.now < l.boot {
		return []string{codeRejoin}
	}
	c, now := modelClaimOf(keys, args), number(m.now)
	if m.now < l.ready() && !m.without.noQuarantine {
		return []string{codeQuarantined, now, number(l.ready())}
	}
	if c.token > m.now+l.bound && !m.without.noBound {
		return []string{codeFuture, now}
	}
	done := ""
	if c.ask != "none" {
		done, _ = m.text(keys[1])
	}
	if c.ask == "ask" && done != "" && strings.Split(done, ":")[1] != kindVoid {
		return []string{codeDone, now, done}
	}
	waited := m.waited(c)
	for i, key := range c.records {
		if r := m.record(key); r.alive(m.now) && r.grant.nonce != c.nonce {
			waited = m.contend(c, c.waiters[i], waited)
			return []string{
				codeHeld, now, number(int64(i + 1)), number(r.grant.token), number(r.deadline),
				number(waited.count), number(waited.since),
			}
		}
	}
	return m.vote(l, c, done, waited)
}

// vote answers a claim that nobody else is in the way of.
func (m *modelNode) vote(l modelLife, c modelClaim, done string, waited modelWaiter) []string {
	var floor, granted int64
	if !m.without.noExpiredFloor {
		floor = m.now - l.fenceTTL + l.bound
	}
	if !m.without.noBootFloor {
		floor = max(floor, l.floor())
	}
	kept := 0
	var displaced []string
	for _, key := range c.records {
		r := m.record(key)
		floor = max(floor, r.floor)
		if r.alive(m.now) && r.grant.token >= c.token { // ours, or it would be held
			kept++
			granted = max(granted, r.grant.token)
		}
		d := r.displaced(c.nonce)
		displaced = append(displaced, number(d.token), string(d.state))
	}
	if kept < len(c.records) {
		if c.token <= floor && !m.without.lowIsFine {
			return []string{codeLow, number(m.now), number(floor)}
		}
		granted = c.token
		for _, key := range c.records {
			m.set(key, modelRecord{
				floor: granted, grant: modelGrant{granted, stateHeld, c.nonce}, deadline: m.now + c.ttl,
				prev: m.record(key).displaced(c.nonce),
			}, l.keeps())
		}
	}
	return append([]string{codeOK, number(m.now), number(granted), number(waited.count), number(waited.since), done}, displaced...)
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
func (m *modelNode) contend(c modelClaim, key string, w modelWaiter) modelWaiter {
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
	m.change(key, (c.waiterLife+999)/1000, func(all modelWaiters) {
		all[c.waiter] = w
		for id, other := range all {
			if other.last <= m.now-c.waiterLife {
				delete(all, id)
			}
		}
	})
	return w
}
