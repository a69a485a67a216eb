package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Config is what a server needs.
type Config struct {
	Seed   uint64
	Faults Faults
	Book   io.Writer // each applied charge, as a line of JSON; nil is nowhere
}

// Server is a provider on a loopback port of its own.
type Server struct {
	URL  string
	Book *Book

	config Config
	http   http.Server
	serve  sync.WaitGroup
	calls  atomic.Int64

	mu     sync.Mutex
	callOf map[string]int // how often a key was called
}

// Start starts a provider. Close ends it.
func Start(config Config) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("provider: listen: %w", err)
	}
	s := &Server{
		URL:    "http://" + listener.Addr().String(),
		Book:   newBook(config.Book),
		config: config,
		callOf: make(map[string]int),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /charges", s.charge)
	s.http.Handler = mux
	s.http.ErrorLog = log.New(io.Discard, "", 0)
	s.serve.Go(func() { _ = s.http.Serve(listener) })
	return s, nil
}

// Close waits for the calls in flight, for at most a second.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	s.serve.Wait()
	return err
}

// Calls is how many charges were asked for, whatever became of them.
func (s *Server) Calls() int64 { return s.calls.Load() }

func (s *Server) charge(w http.ResponseWriter, r *http.Request) {
	var request Request
	key := r.Header.Get("Idempotency-Key")
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&request)
	if err != nil || key == "" || request.Amount <= 0 {
		http.Error(w, "want an Idempotency-Key, and an amount", http.StatusBadRequest)
		return
	}
	fate := s.config.Faults.draw(s.config.Seed, key, s.count(key))
	// The key is looked up before the charge and written after it, as real
	// providers have done: of two calls in flight, both charge.
	charge, known := s.Book.completed(key)
	<-time.After(fate.latency)
	switch {
	case fate.unavailable:
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	case known && charge.Request != request:
		http.Error(w, "this key was used for another charge", http.StatusUnprocessableEntity)
		return
	case !known:
		charge = s.Book.apply(key, request)
	}
	if fate.dropped {
		panic(http.ErrAbortHandler) // net/http's way to close without a reply
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(Receipt{Charge: charge.Charge}) // a client that left gets none
}

func (s *Server) count(key string) int {
	s.calls.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callOf[key]++
	return s.callOf[key]
}
