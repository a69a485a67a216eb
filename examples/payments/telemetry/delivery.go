package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc/status"
)

// CheckEndpoint says whether [Start] takes endpoint.
func CheckEndpoint(endpoint string) error {
	if endpoint == "" {
		return nil
	}
	u, err := url.Parse(withScheme(endpoint))
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && strings.Trim(u.Path, "/")+u.RawQuery+u.Fragment == "" {
		host, port, err := net.SplitHostPort(u.Host)
		if n, err2 := strconv.ParseUint(port, 10, 16); err == nil && err2 == nil && host != "" && n > 0 {
			return nil
		}
	}
	shown := endpoint[strings.LastIndex(endpoint, "@")+1:] // without a password
	return fmt.Errorf("%q is not host:port, such as localhost:4317", shown)
}

// withScheme makes a host:port the URL of a collector without TLS.
func withScheme(endpoint string) string {
	if strings.Contains(endpoint, "://") {
		return endpoint
	}
	return "http://" + endpoint
}

// delivery is an exporter of traces that remembers its last failure.
type delivery struct {
	sdktrace.SpanExporter

	mu  sync.Mutex
	err error
}

func (d *delivery) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := d.SpanExporter.ExportSpans(ctx, spans)
	if err != nil {
		d.mu.Lock()
		d.err = err
		d.mu.Unlock()
	}
	return err
}

// reason is why traces were lost, in as few words as gRPC leaves.
func (d *delivery) reason() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		return nil
	}
	text := d.err.Error()
	if s, ok := errors.AsType[interface {
		error
		GRPCStatus() *status.Status
	}](d.err); ok {
		text = s.GRPCStatus().Message()
	}
	if _, dialing, found := strings.Cut(text, "while dialing: "); found {
		text = strings.TrimSuffix(dialing, `"`)
	}
	return errors.New(text)
}
