package redlock

// dump is all keys of a node as the texts that a Redis would hold; a hash is
// "field=value field=value".
func (m *modelNode) dump() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin(m.clock())
	all := map[string]string{}
	for key := range m.keys {
		if text, ok := m.text(key); ok {
			all[key] = text
		}
	}
	return all
}

// holding is a key that a node would grant to nobody else.
type holding struct {
	nonce string
	token int64
	until int64 // by the node's clock
}

// held are the keys that are held now, by name.
func (m *modelNode) held() map[string]holding {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin(m.clock())
	all := map[string]holding{}
	for key := range m.keys {
		if r := m.record(key); r.alive(m.now) {
			all[key] = holding{nonce: r.grant.nonce, token: r.grant.token, until: r.deadline}
		}
	}
	return all
}

// plant puts a text where a Redis would hold it, for ttl milliseconds; 0 is for
// ever. It is a write like any other.
func (m *modelNode) plant(key, text string, ttl int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin(m.clock())
	if r, ok := parseRecord(text); ok {
		m.set(key, r, ttl)
	} else {
		m.set(key, text, ttl)
	}
	m.end()
}

// forget deletes a key, as its expiry would.
func (m *modelNode) forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writing = append(m.writing, replaced{key, m.keys[key]})
	delete(m.keys, key)
	m.end()
}
