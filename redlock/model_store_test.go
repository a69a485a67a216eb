package redlock

import (
	"maps"
	"slices"
	"strings"
)

// modelStore is the keys of a node, and what each write replaced.
type modelStore struct {
	now     int64 // when the command came, in microseconds
	ageless bool  // nothing expires
	keys    map[string]modelEntry
	writes  [][]replaced // the last of them, each what one command did
	writing []replaced
}

type modelEntry struct {
	value  any   // modelRecord, modelWaiters or string
	ttl    int64 // as it was set, in milliseconds; 0 is for ever
	expiry int64 // in milliseconds since 1970
}

type replaced struct {
	key   string
	entry modelEntry // its value is nil when there was none
}

// maxWrites bounds how many writes can be lost.
const maxWrites = 256

func (s *modelStore) begin(now int64) { s.now = now }

func (s *modelStore) end() {
	if len(s.writing) == 0 {
		return
	}
	if len(s.writes) == 2*maxWrites {
		s.writes = append(s.writes[:0], s.writes[maxWrites:]...)
	}
	s.writes, s.writing = append(s.writes, s.writing), nil
}

// lose takes the last n writes back, or all there ever were.
func (s *modelStore) lose(n int) {
	if n == loseAll {
		s.keys, s.writes = map[string]modelEntry{}, nil
		return
	}
	for ; n > 0 && len(s.writes) > 0; n-- {
		last := s.writes[len(s.writes)-1]
		s.writes = s.writes[:len(s.writes)-1]
		for _, r := range slices.Backward(last) {
			if r.entry.value == nil {
				delete(s.keys, r.key)
			} else {
				s.keys[r.key] = r.entry
			}
		}
	}
}

func (s *modelStore) get(key string) any {
	e, ok := s.keys[key]
	if !ok || e.ttl > 0 && s.now/1000 > e.expiry && !s.ageless {
		return nil
	}
	return e.value
}

// set keeps a value for ttl milliseconds; 0 is for ever.
func (s *modelStore) set(key string, value any, ttl int64) {
	s.writing = append(s.writing, replaced{key, s.keys[key]})
	s.keys[key] = modelEntry{value: value, ttl: ttl, expiry: s.now/1000 + ttl}
}

func (s *modelStore) record(key string) modelRecord {
	if r, ok := s.get(key).(modelRecord); ok {
		return r
	}
	return modelRecord{grant: noGrant, prev: noGrant}
}

func (s *modelStore) waiters(key string) modelWaiters {
	w, _ := s.get(key).(modelWaiters)
	return w
}

// change replaces the waiters of a key by a changed copy; the time it lives is
// changed by ttl only if that is not 0.
func (s *modelStore) change(key string, ttl int64, change func(modelWaiters)) {
	w := maps.Clone(s.waiters(key))
	if w == nil {
		w = modelWaiters{}
	}
	change(w)
	e := s.keys[key]
	s.writing = append(s.writing, replaced{key, e})
	if len(w) == 0 {
		delete(s.keys, key)
		return
	}
	if ttl != 0 {
		e.ttl, e.expiry = ttl, s.now/1000+ttl
	}
	e.value = w
	s.keys[key] = e
}

// text is a key as GET answers it, or as its fields when it is a hash.
func (s *modelStore) text(key string) (string, bool) {
	switch v := s.get(key).(type) {
	case string:
		return v, true
	case modelRecord:
		return v.text(), true
	case modelWaiters:
		var all []string
		for _, id := range slices.Sorted(maps.Keys(v)) {
			all = append(all, id+"="+v[id].text())
		}
		return strings.Join(all, " "), true
	}
	return "", false
}
