package redlock

import "time"

// losing is a world of restarts that lose so many of the last writes.
func losing(loses ...int) func(*simSetting) {
	return func(s *simSetting) {
		s.clocks, s.loses, s.faults = clocksSteady, loses, 40
	}
}

// ahead makes the proposals of the first client run ahead of the nodes' time, in a
// fleet that would let them.
func ahead(by time.Duration, fence time.Duration) func(*simSetting) {
	return func(s *simSetting) {
		losing(loseAll)(s)
		if fence > 0 {
			s.config = func(c *Config) { c.Bound, c.FenceTTL = 3*time.Second, fence }
		}
		s.change = func(c *simClient, l *Locker) {
			propose := l.propose
			if c.id == 0 {
				l.propose = func(now, seen int64) int64 { return propose(now+by.Microseconds(), seen) }
			}
		}
	}
}

// and adds to what a world does to its clients.
func (s *simSetting) and(change func(c *simClient, l *Locker)) {
	before := s.change
	s.change = func(c *simClient, l *Locker) {
		if before != nil {
			before(c, l)
		}
		change(c, l)
	}
}

// oneNonce makes all attempts of an owner bear one nonce.
func oneNonce(owner func(c *simClient) string) func(*simSetting) {
	return func(s *simSetting) {
		s.and(func(c *simClient, l *Locker) {
			nonce := l.nonce
			l.nonce = func() string { _ = nonce(); return owner(c) }
		})
	}
}

// process and host are owners.
func process(c *simClient) string { return string(rune('A' + c.id)) }

func host(*simClient) string { return "host" }

// repeating proposes a token again until somebody's is seen above it.
func repeating(s *simSetting) {
	s.and(func(c *simClient, l *Locker) {
		propose := l.propose
		l.propose = func(now, seen int64) int64 {
			if c.repeated <= seen || c.repeated < now-time.Second.Microseconds() {
				c.repeated = propose(now, seen)
			}
			return c.repeated
		}
	})
}

// everyNodeVotes lets every node vote, whatever its clock shows.
func everyNodeVotes(s *simSetting) {
	s.and(func(_ *simClient, l *Locker) { l.clocks.memory, l.clocks.need = 0, 99 })
}

func noRaisedFloor(s *simSetting) { s.without.noRaisedFloorOnAbandon = true }

// storm is a world of late messages, where nobody restarts.
func storm(s *simSetting) {
	s.clocks, s.nodes, s.clients, s.faults, s.loss, s.twice, s.delay = clocksSteady, 3, 3, 0, 5, 30, 5
}

// guarded is a world where one of three clocks steps.
func guarded(s *simSetting) { s.clocks, s.nodes, s.faults = clocksGuarded, 3, 30 }

func all(changes ...func(*simSetting)) func(*simSetting) {
	return func(s *simSetting) {
		for _, c := range changes {
			c(s)
		}
	}
}

// slower makes the clients' clocks slow, which is to say the nodes' fast.
func slower(ppm int) func(*simSetting) {
	return func(s *simSetting) { s.slow = ppm }
}

// without leaves out rules of the nodes.
func without(rules leftOut) func(*simSetting) {
	return func(s *simSetting) { s.without = rules }
}
