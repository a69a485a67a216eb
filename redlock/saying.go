package redlock

import "sync"

// saying is what the nodes have said to a settlement so far. A node that fails
// speaks more than once; the last time is final.
type saying struct {
	mu    sync.Mutex
	last  []vote
	spoke []bool
	final []bool
	news  chan struct{} // room for one
}

func newSaying(nodes int) *saying {
	return &saying{last: make([]vote, nodes), spoke: make([]bool, nodes), final: make([]bool, nodes), news: make(chan struct{}, 1)}
}

func (s *saying) add(v vote, final bool) {
	s.mu.Lock()
	s.last[v.node], s.spoke[v.node], s.final[v.node] = v, true, final
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// votes are the last words of the nodes that have spoken, or of those alone that
// have no more to say.
func (s *saying) votes(final bool) []vote {
	s.mu.Lock()
	defer s.mu.Unlock()
	votes := make([]vote, 0, len(s.last))
	for i, v := range s.last {
		if s.final[i] || s.spoke[i] && !final {
			votes = append(votes, v)
		}
	}
	return votes
}
