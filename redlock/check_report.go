package redlock

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// String is the report for people: a table with a line for each node, then what is
// against a node, then the warnings.
func (r Report) String() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NODE\tSTATE\tVERSION\tROLE\tPOLICY\tPERSISTENCE\tREPLICAS\tCLOCK\tROUND TRIP\tRUN ID")
	for _, n := range r.Nodes {
		fmt.Fprintln(w, strings.Join(n.row(), "\t"))
	}
	_ = w.Flush() // into memory
	for _, n := range r.Nodes {
		if n.Err != nil {
			fmt.Fprintf(&text, "node %s: %v\n", n.Node, n.Err)
		}
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&text, "warning: %v\n", warning)
	}
	return text.String()
}

func (n NodeReport) row() []string {
	const unknown = "?"
	if !n.Reachable {
		return []string{n.Node, "unreachable", unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown}
	}
	replicas := unknown
	if n.Replicas >= 0 {
		replicas = strconv.Itoa(n.Replicas)
	}
	return []string{
		n.Node, n.state(), cmp.Or(n.Version, unknown), cmp.Or(n.Role, unknown), cmp.Or(n.Policy, unknown), cmp.Or(n.Persistence, unknown), replicas,
		fmt.Sprintf("%+.1fms", float64(n.Ahead)/float64(time.Millisecond)), fmt.Sprintf("%.1fms", float64(n.RoundTrip)/float64(time.Millisecond)),
		cmp.Or(n.RunID[:min(8, len(n.RunID))], unknown),
	}
}

func (n NodeReport) state() string {
	switch {
	case n.Err != nil:
		return "refused"
	case !n.Joined:
		return "not asked"
	case n.Quarantine > 0:
		return fmt.Sprintf("no vote for %.1fs", n.Quarantine.Seconds())
	case n.Ungated:
		return "ungated"
	}
	return "votes"
}
