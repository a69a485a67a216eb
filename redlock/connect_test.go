package redlock

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

// Our clients are our own, and reach the node as the user's options say.
func TestNodesAreReachedByUnixSocketAndByTLS(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "rl") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	trusted := certify(t, dir)
	socket, port := filepath.Join(dir, "s"), freePort(t)
	servers.RedisNodes(t, 1, "--unixsocket", socket, "--tls-port", port, "--tls-auth-clients", "no",
		"--tls-cert-file", filepath.Join(dir, "cert"), "--tls-key-file", filepath.Join(dir, "key"), "--tls-ca-cert-file", filepath.Join(dir, "cert"))

	nodes := URLs("node=unix://" + socket)
	release(t, await(t, newLocker(t, nodes), Key("k")), Released)

	nodes = URLs("node=rediss://localhost:" + port)
	nodes[0].Options.TLSConfig.RootCAs = trusted
	release(t, await(t, newLocker(t, nodes), Key("k")), Released)

	nodes = URLs("node=rediss://localhost:" + port) // the control: nobody vouches for it
	if _, err := newLocker(t, nodes, quick).TryAcquire(t.Context(), Key("k")); err == nil {
		t.Error("a server that nobody vouches for was trusted")
	}
}

// certify writes a certificate for localhost and its key, and returns who trusts it.
func certify(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert": {Type: "CERTIFICATE", Bytes: cert}, "key": {Type: "EC PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(cert)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return pool
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
