package redlock

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// warnings are what can be lived with.
func (l *Locker) warnings(surveys []survey, synchronised func() (ok, known bool)) (all []Warning) {
	for _, s := range surveys {
		warn := func(format string, args ...any) {
			all = append(all, Warning{Node: s.Node, Text: fmt.Sprintf(format, args...)})
		}
		if s.Err != nil && !errors.Is(s.Err, ErrConfig) {
			warn("cannot be used now: %v", s.Err)
		}
		if !s.Reachable {
			continue
		}
		if s.Ungated {
			warn("ungated: nobody would notice if it restarted and forgot who holds what")
		}
		if s.Quarantine > 0 {
			warn("no vote for another %v: it has restarted, or is new, and may have forgotten locks", s.Quarantine.Round(time.Millisecond))
		}
		switch s.Persistence {
		case "none":
			warn("no persistence: a restart forgets completion records, and one of a majority lets finished jobs run again")
		case "":
			warn("its persistence cannot be seen: without any, a restart forgets completion records")
		}
		if s.Replicas > 0 {
			warn("%d replicas: one that is promoted has not seen all locks, and must not take this address", s.Replicas)
		}
		if most := margin(l.cfg.TTL) / 2; s.Ahead.Abs()-s.RoundTrip/2 > most { // beyond what the reading leaves open
			warn("its clock is %v off the median of the nodes; past %v, twice this limit, it may have no vote", s.Ahead.Round(time.Millisecond), 2*most)
		}
		if s.RoundTrip > l.cfg.NodeTimeout/2 {
			warn("a round trip takes %v of the %v that it may take", s.RoundTrip.Round(100*time.Microsecond), l.cfg.NodeTimeout)
		}
	}
	return append(all, l.aboutHosts(synchronised)...)
}

// aboutHosts is what the nodes' addresses tell. This machine is one host under
// many names.
func (l *Locker) aboutHosts(synchronised func() (ok, known bool)) (all []Warning) {
	const here = "this machine"
	on := map[string][]string{}
	var order []string
	for i, n := range l.nodes {
		host := ""
		if o := l.cfg.Nodes[i].Options; o != nil {
			host = hostOf(o.Network, o.Addr, here)
		}
		if len(on[host]) == 0 {
			order = append(order, host)
		}
		on[host] = append(on[host], n.name)
	}
	for _, host := range order {
		if names := on[host]; host != "" && len(names) > 1 {
			all = append(all, Warning{Text: fmt.Sprintf("nodes %s are on one host, %s: they fail together", strings.Join(names, ", "), host)})
		}
	}
	if len(on[here]) < len(l.nodes) {
		return append(all, Warning{Text: "whether the nodes' clocks are synchronised cannot be seen from here: run NTP on their hosts, and let it slew"})
	}
	switch ok, known := synchronised(); {
	case !known:
		all = append(all, Warning{Text: "whether the clock of this machine, which all nodes go by, is synchronised cannot be seen"})
	case !ok:
		all = append(all, Warning{Text: "the clock of this machine, which all nodes go by, is not synchronised: whatever sets it makes it step"})
	}
	return all
}

// hostOf is the host in an address.
func hostOf(network, address, here string) string {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	switch {
	case network == "unix" || strings.HasPrefix(address, "/"):
		return here
	case err != nil:
		return ""
	case host == "" || host == "localhost" || ip != nil && ip.IsLoopback():
		return here
	}
	return strings.ToLower(host)
}
