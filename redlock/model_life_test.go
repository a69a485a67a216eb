package redlock

import (
	"strings"
	"time"
)

// modelLife is what a marker says of one life of a node, read from the marker
// alone: whatever else the client filled into a script must follow from it.
type modelLife struct {
	marker                              string
	boot, maxTTL, bound, fenceTTL, gate int64 // gate: 1, or 0 of an ungated node
}

func (l modelLife) ready() int64 { return l.gate * (l.boot + l.maxTTL) }
func (l modelLife) floor() int64 { return l.gate * (l.boot + l.bound) }

// keeps is for how many milliseconds a record outlives its last write.
func (l modelLife) keeps() int64 { return (l.fenceTTL + 999) / 1000 }

// parseMarker returns the parts of "run_id:boot_us:config".
func parseMarker(marker string) (run string, boot int64, config string) {
	parts := strings.SplitN(marker, ":", 3)
	return parts[0], parse(parts[1]), parts[2]
}

func modelLifeOf(marker string) modelLife {
	run, boot, config := parseMarker(marker)
	l := modelLife{marker: marker, boot: boot, gate: 1}
	if run == ungated {
		l.gate = 0
	}
	for word := range strings.FieldsSeq(config) {
		name, value, _ := strings.Cut(word, "=")
		d, _ := time.ParseDuration(value)
		switch name {
		case "maxttl":
			l.maxTTL = d.Microseconds()
		case "bound":
			l.bound = d.Microseconds()
		case "fencettl":
			l.fenceTTL = d.Microseconds()
		}
	}
	return l
}

// modelScriptOf knows a script by its first line, and its life by the marker in
// its text.
func modelScriptOf(text string) modelScript {
	first, rest, _ := strings.Cut(text, "\n")
	is := func(script string) bool { return strings.HasPrefix(script, first+"\n") }
	if is(joinText) {
		return modelScript{run: (*modelNode).join}
	}
	_, rest, _ = strings.Cut(rest, "~= '")
	marker, _, _ := strings.Cut(rest, "'")
	if !is(callText) {
		panic("model: no such script: " + first)
	}
	return modelScript{life: modelLifeOf(marker), run: (*modelNode).call}
}

// gone reports that the node is not, or not any more, in the life and under the
// config that a script was made for.
func (m *modelNode) gone(l modelLife, marker string) bool {
	text, _ := m.text(marker)
	return text != l.marker && !m.without.noMarker
}
