package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Charge is a line of the book: money that moved.
type Charge struct {
	Charge string `json:"charge"`
	ID     string `json:"id"` // the idempotency key it was asked for under
	Request
	At time.Time `json:"at"`
}

// Book is what the provider applied, in order. It is safe for concurrent use.
type Book struct {
	mu      sync.Mutex
	out     *json.Encoder // nil is nowhere
	err     error         // the first failure to write
	charges []Charge
	first   map[string]Charge // the completed charge that answers for a key
}

// newBook returns a book that writes each charge to out, as a line of JSON, at
// the moment it is applied; out may be nil.
func newBook(out io.Writer) *Book {
	b := &Book{first: make(map[string]Charge)}
	if out != nil {
		b.out = json.NewEncoder(out)
	}
	return b
}

// completed returns the charge that answers for key, if there is one.
func (b *Book) completed(key string) (Charge, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.first[key]
	return c, ok
}

// apply charges, whether or not the key has been charged before.
func (b *Book) apply(key string, r Request) Charge {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := Charge{Charge: fmt.Sprintf("ch_%06d", len(b.charges)+1), ID: key, Request: r, At: time.Now().UTC()}
	b.charges = append(b.charges, c)
	if _, known := b.first[key]; !known {
		b.first[key] = c
	}
	if b.out != nil && b.err == nil {
		b.err = b.out.Encode(c)
	}
	return c
}

// Charges returns a copy of all charges, oldest first.
func (b *Book) Charges() []Charge {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.charges)
}

// Keys is how many different keys were charged.
func (b *Book) Keys() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.first)
}

// Err is the first error of writing the book out.
func (b *Book) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
