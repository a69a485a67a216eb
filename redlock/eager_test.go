package redlock

import (
	"net"
	"sync"
)

// eager is a connection that takes what is written without waiting for its reader,
// as the kernel's buffers do and net.Pipe does not: a server may answer the first
// command of a pipeline before it reads the last.
type eager struct {
	net.Conn
	mu     sync.Mutex
	queued [][]byte
	news   chan struct{}
	done   chan struct{}
	once   sync.Once
}

func newEager(c net.Conn) *eager {
	e := &eager{Conn: c, news: make(chan struct{}, 1), done: make(chan struct{})}
	go e.pump()
	return e
}

func (e *eager) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queued = append(e.queued, append([]byte(nil), p...))
	select {
	case e.news <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (e *eager) pump() {
	for {
		select {
		case <-e.news:
		case <-e.done:
			return
		}
		e.mu.Lock()
		queued := e.queued
		e.queued = nil
		e.mu.Unlock()
		for _, p := range queued {
			if _, err := e.Conn.Write(p); err != nil {
				return
			}
		}
	}
}

func (e *eager) Close() error {
	e.once.Do(func() { close(e.done) })
	return e.Conn.Close()
}
