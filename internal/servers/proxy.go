package servers

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Proxy stands before a server and does to its connections what networks do. It
// has one fault at a time: the next takes the place of the last. It is safe for
// concurrent use.
type Proxy struct {
	mu     sync.Mutex
	proxy  *toxiproxy.Proxy
	toxics []string
}

// StartProxy starts a proxy before addr on a free loopback port. The one who
// started it closes it.
func StartProxy(addr string) (*Proxy, error) {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := &Proxy{proxy: toxiproxy.NewProxy(server, addr, "127.0.0.1:0", addr)}
	if err := p.proxy.Start(); err != nil {
		return nil, fmt.Errorf("servers: start a proxy: %w", err)
	}
	return p, nil
}

// Proxies starts a proxy before each node, and closes them when the test ends.
func Proxies(tb testing.TB, nodes []*Redis) []*Proxy {
	tb.Helper()
	proxies := make([]*Proxy, len(nodes))
	for i, r := range nodes {
		p, err := StartProxy(r.Addr())
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(p.Close)
		proxies[i] = p
	}
	return proxies
}

// Addr returns the proxy's address, "127.0.0.1:PORT".
func (p *Proxy) Addr() string { return p.proxy.Listen }

// URL returns the server's URL by way of the proxy, "redis://127.0.0.1:PORT".
func (p *Proxy) URL() string { return "redis://" + p.Addr() }

// DropReplies lets requests through, and no reply: what is asked is done, and
// nobody hears of it.
func (p *Proxy) DropReplies() error { return p.become(drop("downstream")) }

// BlackHole lets nothing through in either direction and ends no connection, as
// a network does that drops packets. New connections are accepted, as the system
// does for a server, and are as silent.
func (p *Proxy) BlackHole() error { return p.become(drop("upstream"), drop("downstream")) }

// Slow delays every reply by d, in whole milliseconds.
func (p *Proxy) Slow(d time.Duration) error {
	return p.become(toxic{"latency", "downstream", fmt.Sprintf(`{"latency":%d}`, d.Milliseconds())})
}

// Cut ends all connections and refuses new ones, as for a server that is down.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proxy.Stop()
}

// Heal ends the fault. What it has swallowed never arrives: the connections that
// met it are ended.
func (p *Proxy) Heal() error { return p.become() }

// Close ends the proxy and its connections.
func (p *Proxy) Close() { p.Cut() }

type toxic struct{ kind, stream, attributes string }

func drop(stream string) toxic { return toxic{"timeout", stream, `{"timeout":0}`} }

func (p *Proxy) become(next ...toxic) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range p.toxics {
		if err := p.proxy.Toxics.RemoveToxic(context.Background(), name); err != nil {
			return fmt.Errorf("servers: heal a proxy: %w", err)
		}
	}
	p.toxics = nil
	if !p.proxy.Enabled {
		if err := p.proxy.Start(); err != nil {
			return fmt.Errorf("servers: start a proxy again: %w", err)
		}
	}
	for _, t := range next {
		name := t.kind + "-" + t.stream
		text := fmt.Sprintf(`{"name":%q,"type":%q,"stream":%q,"attributes":%s}`, name, t.kind, t.stream, t.attributes)
		if _, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(text)); err != nil {
			return fmt.Errorf("servers: %s: %w", name, err)
		}
		p.toxics = append(p.toxics, name)
	}
	return nil
}
