package redlock

// extend is all or nothing: no key is written unless every key may be.
func (m *modelNode) extend(l modelLife, a modelAsk) string {
	nonce, token, ttl, notAfter := a.args[0], parse(a.args[1]), parse(a.args[2]), parse(a.args[3])
	code := codeOK
	for _, key := range a.records {
		r := m.record(key)
		alive := r.alive(m.now)
		newer := r.grant.token > token
		released := r.grant.token == token && r.grant.state == stateReleased
		if newer || released || alive && r.grant.nonce != nonce {
			return says(codeLost, r.grant.token)
		}
		if r.prev == (modelGrant{token, stateReleased, nonce}) { // while another's lower grant stood
			return says(codeLost, token)
		}
		if !alive || r.grant.token < token {
			code = codeRepaired
		}
	}
	early := token > m.now+l.bound && !m.without.noBound
	if code == codeRepaired && (m.now > notAfter && !m.without.noRepairLimit || early) {
		return codeGone
	}
	for _, key := range a.records {
		r := m.record(key)
		m.set(key, modelRecord{
			floor: max(r.floor, token), grant: modelGrant{token, stateHeld, nonce}, deadline: m.now + ttl,
			prev: r.displaced(nonce),
		}, l.keeps())
	}
	return code
}
