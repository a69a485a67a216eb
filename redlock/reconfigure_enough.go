package redlock

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// LeftOutError says that a majority of nodes carries the new configuration, and
// which do not, because they did not answer: [Reconfigure] must be said again.
type LeftOutError struct {
	Answers []Answer // of those left out
}

func (e *LeftOutError) Error() string {
	said := make([]string, len(e.Answers))
	for i, a := range e.Answers {
		said[i] = a.String()
	}
	return "redlock: reconfigure: done on a majority, and to be said again for the others: " + strings.Join(said, "; ")
}

// enough is nil if a majority of the new set answers, and if, of each old set that
// shows, those that can be drained or carry something else by now leave no majority
// over.
func (c *change) enough() error {
	votes := make([]vote, len(c.seen))
	sets := map[string]int{}
	silent := 0
	for i, s := range c.seen {
		votes[i] = vote{node: i, err: s.err, reply: reply{code: codeOK}}
		switch {
		case s.err != nil && i < c.staying:
			silent++
		case s.err == nil && s.old != "":
			sets[s.old]++
		}
	}
	if c.staying-silent < c.need {
		return c.noQuorum("reconfigure", votes)
	}
	for old, have := range sets {
		names := namesOf(old)
		for i, s := range c.seen {
			if s.err == nil && s.marker != "" && s.old != old && slices.Contains(names, c.nodes[i].name) {
				have++ // it was one of them, and is another's by now
			}
		}
		if need := len(names)/2 + 1; have < need {
			return fmt.Errorf("redlock: reconfigure: %d nodes of the configuration %q are needed, and %d were found: give those that leave, too: %w",
				need, old, have, c.noQuorum("reconfigure", votes))
		}
	}
	return nil
}

// leftOut is nil if every node of the new set has answered to the end.
func (c *change) leftOut(ctx context.Context) error {
	var e LeftOutError
	for i, s := range c.seen {
		if s.err != nil {
			c.cfg.Logger.WarnContext(ctx, "a lock node was left out", "node", c.nodes[i].name, "err", s.err)
			e.Answers = append(e.Answers, Answer{Node: c.nodes[i].name, Err: s.err})
		}
	}
	if len(e.Answers) == 0 {
		return nil
	}
	if err := c.enough(); err != nil {
		return err
	}
	return &e
}

const drainingWord = "draining "

// drained is the configuration that a marker names, drained or not.
func drained(marker string) string { return strings.TrimPrefix(configOf(marker), drainingWord) }

// setting is one of a configuration's, as configText writes it.
func setting(config, name string) string {
	for field := range strings.FieldsSeq(config) {
		if value, ok := strings.CutPrefix(field, name+"="); ok {
			return value
		}
	}
	return ""
}

func namesOf(config string) []string { return strings.Split(setting(config, "nodes"), ",") }

// maxTTLOf is how long locks under a configuration may live: the longest that any
// may, if it does not say.
func maxTTLOf(config string) time.Duration {
	if d, err := time.ParseDuration(setting(config, "maxttl")); err == nil && d > 0 {
		return d
	}
	return 10 * time.Minute
}
