package redlock

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/redis/go-redis/v9"
)

// Node is one lock node: an independent Redis primary. The [Locker] builds its
// own client from a copy of Options, with short timeouts and no retries; it
// takes address, TLS, user, password, database and dialer from them.
type Node struct {
	// Name tells nodes apart in errors and must stay the same for the life of a
	// fleet: 1 to 64 of [A-Za-z0-9._:/-]. "" means Options.Addr.
	Name    string
	Options *redis.Options

	source string // the URL it came from, without its secrets
	err    error  // why that URL is bad
}

// URLs turns Redis URLs, each optionally given a name as "name=URL", into nodes.
// A bad one is reported by [New], which names it without its password.
func URLs(urls ...string) []Node {
	nodes := make([]Node, len(urls))
	for i, u := range urls {
		nodes[i] = parseNode(u)
	}
	return nodes
}

func parseNode(text string) Node {
	name, address := "", text
	if before, after, ok := strings.Cut(text, "="); ok && !strings.Contains(before, "://") {
		name, address = before, after
	}
	n := Node{Name: name, source: withoutSecrets(address)}
	// ParseURL's error repeats the URL, password and all: it is not passed on.
	n.Options, n.err = redis.ParseURL(address)
	return n
}

// withoutSecrets keeps scheme and address of what may be no URL at all.
func withoutSecrets(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		scheme, rest = "", text
	}
	at := strings.LastIndex(rest, "@") // first: what is wrong may be a "?" in the password
	hidden := at >= 0
	rest, _, _ = strings.Cut(rest[at+1:], "?")
	if hidden {
		rest = "xxxxx@" + rest
	}
	if ok {
		return scheme + "://" + rest
	}
	return rest
}

// name is the node's name, given or by default.
func (n Node) name() string {
	if n.Name == "" && n.Options != nil {
		return n.Options.Addr
	}
	return n.Name
}

func checkNodes(nodes []Node) error {
	if n := len(nodes); n > 7 || n%2 == 0 {
		return bad("Nodes", fmt.Sprintf("%d nodes", n), "1, 3, 5 or 7 nodes")
	}
	names, addresses := map[string]bool{}, map[string]bool{}
	for i, n := range nodes {
		field := fmt.Sprintf("Nodes[%d]", i)
		switch {
		case n.err != nil:
			return bad(field, n.source, "a redis://, rediss:// or unix:// URL")
		case n.Options == nil || n.Options.Addr == "":
			return bad(field+".Options", "", "an address")
		case !isName(n.name()):
			return bad(field+".Name", n.name(), "1 to 64 of [A-Za-z0-9._:/-]")
		case names[n.name()]:
			return bad(field+".Name", n.name(), "a name that no other node has")
		case addresses[n.Options.Addr]:
			return bad(field, n.Options.Addr, "an address that no other node has")
		}
		names[n.name()], addresses[n.Options.Addr] = true, true
	}
	return nil
}

func isName(s string) bool {
	outside := func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._:/-", r)
	}
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, outside)
}
