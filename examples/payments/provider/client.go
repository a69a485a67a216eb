// Package provider is a payment provider as one meets them: it is slow, it is
// down now and then, it drops replies of charges that it applied, and it knows
// an idempotency key only once the key's first charge has completed. A [Server]
// plays it on loopback; a [Client] talks to it.
package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Request is what a charge is asked for with.
type Request struct {
	Account  string `json:"account"`
	Amount   int64  `json:"amount_cents"`
	Currency string `json:"currency"`
}

// Receipt is the provider's answer to a charge that it applied.
type Receipt struct {
	Charge string `json:"charge"` // the provider's own number for it
}

// ErrUnavailable says that the provider is overloaded and applied nothing.
var ErrUnavailable = errors.New("provider: unavailable")

// RefusedError says that the provider will never take this request.
type RefusedError struct {
	Status int // of HTTP, 400 to 499
	Reason string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("provider: refused with %d: %s", e.Status, e.Reason)
}

// Client calls a provider. It is safe for concurrent use.
type Client struct {
	url  string
	http *http.Client
}

// NewClient returns a client of the provider at url. A call takes at most ten
// seconds.
func NewClient(url string) *Client {
	return &Client{url: url, http: &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute},
	}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Charge asks for one charge under key. Call it again with the same key after
// any error but a [*RefusedError]: without a reply nobody knows whether the
// charge was applied, and the key makes the answer the first charge's.
func (c *Client) Charge(ctx context.Context, key string, r Request) (Receipt, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return Receipt{}, fmt.Errorf("provider: marshal request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/charges", bytes.NewReader(body))
	if err != nil {
		return Receipt{}, fmt.Errorf("provider: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	// net/http repeats a request with this header by itself when its connection
	// breaks. Whose turn it is to retry is the job's decision, so forbid it.
	req.GetBody = nil
	resp, err := c.http.Do(req)
	if err != nil {
		return Receipt{}, fmt.Errorf("provider: no reply: %w", err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusOK:
		var receipt Receipt
		if err := json.NewDecoder(resp.Body).Decode(&receipt); err != nil {
			return Receipt{}, fmt.Errorf("provider: read reply: %w", err)
		}
		return receipt, nil
	case resp.StatusCode < 500:
		return Receipt{}, &RefusedError{Status: resp.StatusCode, Reason: http.StatusText(resp.StatusCode)}
	default:
		return Receipt{}, fmt.Errorf("%w: status %d", ErrUnavailable, resp.StatusCode)
	}
}
