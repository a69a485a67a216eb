package redlock

// extend is all or nothing: no key is written unless every key may be.
func (m *modelNode) extend(l modelLife, keys, args []string) []string {
	if m.gone(l, keys[0]) {
		return []string{codeRejoin}
	}
	nonce, token, ttl, notAfter := args[0], parse(args[1]), parse(args[2]), parse(args[3])
	code := codeOK
	for _, key := range keys[1:] {
		r := m.record(key)
		alive := r.alive(m.now)
		newer := r.grant.token > token
		released := r.grant.token == token && r.grant.state == stateReleased
		if newer || released || alive && r.grant.nonce != nonce {
			return []string{codeLost, number(m.now), number(r.grant.token)}
		}
		if r.prev == (modelGrant{token, stateReleased, nonce}) { // while another's lower grant stood
			return []string{codeLost, number(m.now), number(token)}
		}
		if !alive || r.grant.token < token {
			code = codeRepaired
		}
	}
	early := token > m.now+l.bound && !m.without.noBound
	if code == codeRepaired && (m.now > notAfter && !m.without.noRepairLimit || early) {
		return []string{codeGone, number(m.now)}
	}
	for _, key := range keys[1:] {
		r := m.record(key)
		m.set(key, modelRecord{
			floor: max(r.floor, token), grant: modelGrant{token, stateHeld, nonce}, deadline: m.now + ttl,
			prev: r.displaced(nonce),
		}, l.keeps())
	}
	return []string{code, number(m.now)}
}
