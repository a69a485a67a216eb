package redlock

import "fmt"

// call asks for several things at once.
func (s *sequence) call(requests ...*request) {
	cmds, _ := pack(requests, s.markerKey(), s.life().script.sha)
	s.say(cmds[0]...)
	s.steps[len(s.steps)-1].asked = len(requests)
}

// claim is one of some of the keys. A full one goes with a completion record and
// with waiters.
func (s *sequence) claim(verb string, claimed []int, full bool) *request {
	r := &request{verb: verb, held: len(claimed)}
	for _, i := range claimed {
		r.keys = append(r.keys, s.key("record", i))
	}
	if full {
		r.keys = append(r.keys, s.doneKey())
		for _, i := range claimed {
			r.keys = append(r.keys, s.key("waiters", i))
		}
	}
	return r
}

func (s *sequence) acquire() *request {
	full := s.below(4) > 0
	r := s.claim(verbAcquire, s.claimed(), full)
	r.args = []any{s.nonce(), s.token(), oneOf(&s.choices, 1000000, 5000000)}
	if full {
		ask, waiter, visit := oneOf(&s.choices, doneAsk, doneAdopt, doneNone), oneOf(&s.choices, "", "w", "x"), oneOf(&s.choices, "v1", "v2:1", "")
		r.args = append(r.args, ask, waiter, visit, sequenceWaiterLife)
	}
	return r
}

func (s *sequence) extend() *request {
	r := s.claim(verbExtend, s.claimed(), false)
	notAfter := oneOf(&s.choices, 0, s.now-1, s.now, s.now+1, s.now+1e6, s.now+1e6)
	r.args = []any{s.nonce(), s.token(), oneOf(&s.choices, 1000000, 5000000), notAfter}
	return r
}

func (s *sequence) settle() *request {
	full, claimed, token := s.below(4) > 0, s.claimed(), s.token()
	r := s.claim(verbSettle, claimed, full)
	modes := []string{modeAbandon, modeRelease}
	if full {
		modes = append(modes, modeFinish)
	}
	r.args = []any{s.nonce(), token, oneOf(&s.choices, modes...)}
	for _, i := range claimed {
		r.args = append(r.args, s.key("free", i))
	}
	if full {
		kind := oneOf(&s.choices, kindDone, kindDone, kindVoid)
		r.args = append(r.args, fmt.Sprintf("%d:%s:1:h:1:void:%d", token, kind, len(s.steps)), 3600000, oneOf(&s.choices, "", "w", "x"))
	}
	return r
}

// plant puts there what another client, or a restored dump, may have written.
func (s *sequence) plant() {
	var text string
	key, ttl := s.key("record", s.below(sequenceKeys)), int64(120000)
	switch s.below(8) {
	case 0, 1:
		s.plantWaiter()
		return
	case 2:
		key, text, ttl = s.markerKey(), fmt.Sprintf("%s:%d:%s", oneOf(&s.choices, "run1", "run2"), near(&s.choices, s.now, s.now+1e9), oneOf(&s.choices, configText(sequenceConfigs[0]), "else")), 0
	case 3:
		key, text = s.doneKey(), fmt.Sprintf("%d:%s:1:h:1:void:", s.token(), oneOf(&s.choices, kindDone, kindVoid, kindDone))
	default:
		r := modelRecord{grant: s.grant(), deadline: near(&s.choices, 0, s.now, s.now+1e6), prev: s.grant()}
		r.floor = max(r.grant.token, s.token())
		text = r.text()
	}
	s.model.plant(key, text, ttl)
	cmd := []any{"SET", key, text}
	if ttl > 0 {
		cmd = append(cmd, "PX", ttl)
	}
	s.staged(cmd...)
}

// plantWaiter puts somebody there whose last try is about to be forgotten, and
// tries to take something before the time moves on.
func (s *sequence) plantWaiter() {
	key, id := s.key("waiters", s.below(sequenceKeys)), oneOf(&s.choices, "w", "x")
	w := modelWaiter{count: int64(s.below(4)), last: near(&s.choices, s.now, s.now-sequenceWaiterLife, s.now-sequenceWaiterLife), token: s.token(), visit: "v1"}
	w.since = w.last - 5
	s.model.change(key, 500000, func(all modelWaiters) { all[id] = w })
	s.staged("HSET", key, id, w.text())
	s.staged("PEXPIRE", key, 500000)
	s.call(s.acquire())
}

func (s *sequence) grant() modelGrant {
	return modelGrant{token: s.token(), state: oneOf[byte](&s.choices, stateReleased, stateHeld, stateDead), nonce: oneOf(&s.choices, "me", "you", "they", "")}
}

// forget stands for the expiry of a key, which comes by another clock here.
func (s *sequence) forget() {
	key := oneOf(&s.choices, s.keys()...)
	s.model.forget(key)
	s.staged("DEL", key)
}

// staged notes a command that the model was not asked.
func (s *sequence) staged(cmd ...any) { s.steps = append(s.steps, step{now: s.now, cmd: cmd}) }

// travel moves the clock, mostly to where something ends or has just ended.
func (s *sequence) travel() {
	marked := modelLifeOf(s.life().marker)
	times := []int64{s.now + 1, s.now + 1000, s.now + 1e6, s.now + 5e6, s.now - 1e6, s.now - 20e6, s.now + 60e6, marked.boot, marked.ready()}
	for i := range sequenceKeys {
		times = append(times, s.model.record(s.key("record", i)).deadline)
	}
	if to := near(&s.choices, times...); to > sequenceStart/2 { // a record that was never held has the deadline 0
		s.now = to
	}
}
