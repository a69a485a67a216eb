package redlock

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// faults are the reasons not to begin that show before any node is joined.
func (l *Locker) faults(surveys []survey) (faults []error) {
	first := map[string]string{} // the node that showed a run ID first
	votes := make([]vote, len(surveys))
	for i, s := range surveys {
		votes[i] = vote{node: i, err: s.Err, reply: reply{code: codeOK}}
		refuse := func(seen, want string) {
			fault := &NodeError{Node: s.Node, Seen: seen, Want: want}
			faults, surveys[i].Err = append(faults, fault), errors.Join(surveys[i].Err, fault)
		}
		if other, twice := first[s.RunID]; twice && s.RunID != "" {
			refuse(fmt.Sprintf("the same server as node %s, by its run_id %s", other, s.RunID), "a server of its own: one that is listed twice votes twice")
		} else {
			first[s.RunID] = s.Node
		}
		if s.Mode != "" && s.Mode != "standalone" {
			refuse("it runs as "+s.Mode, "a standalone primary")
		}
		if s.Role != "" && s.Role != "master" {
			refuse("its role is "+s.Role, "a master: what a replica grants its own master does not know")
		}
		if s.Version != "" && older(s.Version, 7) {
			refuse("it is Redis "+s.Version, "7.0 or later: an older one may keep scripts over a restart, and then nobody notices it")
		}
		if s.Policy != "" && s.Policy != "noeviction" {
			refuse("its maxmemory-policy is "+s.Policy, "noeviction: a lock that is evicted is held by two")
		}
		if s.config != nil {
			faults = append(faults, s.config)
		}
	}
	unanswered := 0
	for _, s := range surveys {
		if s.Err != nil && !errors.Is(s.Err, ErrConfig) {
			unanswered++
		}
	}
	if len(surveys)-unanswered < l.need {
		faults = append(faults, l.noQuorum("check", votes))
	}
	return faults
}

// older reports whether a version is below a major one.
func older(version string, major int) bool {
	text, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(text)
	return err == nil && n < major
}
