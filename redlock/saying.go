package redlock

import "sync"

// saying is what the nodes say to a settlement, until the outcome is certain. A
// node that fails speaks more than once; the last time is final.
type saying struct {
	judge func(*saying) bool // whether the outcome is certain; called with mu held
	over  chan struct{}      // closed when it is

	mu    sync.Mutex
	last  []vote
	spoke []bool
	final []bool
	told  bool
}

func newSaying(nodes int, judge func(*saying) bool) *saying {
	flags := make([]bool, 2*nodes)
	return &saying{judge: judge, over: make(chan struct{}), last: make([]vote, nodes), spoke: flags[:nodes], final: flags[nodes:]}
}

func (s *saying) add(v vote, final bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told {
		return
	}
	s.last[v.node], s.spoke[v.node], s.final[v.node] = v, true, final
	if s.judge(s) {
		s.told = true
		close(s.over)
	}
}

// count is how many nodes have said code.
func (s *saying) count(code string) (n int) {
	for i, v := range s.last {
		if s.spoke[i] && v.said(code) {
			n++
		}
	}
	return n
}

// answered is how many nodes have answered, whatever it was.
func (s *saying) answered() (n int) {
	for i, v := range s.last {
		if s.spoke[i] && v.err == nil {
			n++
		}
	}
	return n
}

// votes are the last words of all. The saying is over.
func (s *saying) votes() []vote { return s.last }

// every reports whether each flag is set.
func every(flags []bool) bool {
	for _, f := range flags {
		if !f {
			return false
		}
	}
	return true
}
