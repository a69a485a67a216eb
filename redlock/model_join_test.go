package redlock

import "strings"

const drainingPrefix = "draining "

// join judges the marker, and writes it in the modes that may.
func (m *modelNode) join(_ modelLife, keys, args []string) []string {
	run, config, mode := args[0], args[1], args[2]
	marker, there := m.text(keys[0])
	var life, text string
	var boot int64
	if there {
		life, boot, text = parseMarker(marker)
	}
	fresh := !there || life != run && run != ungated || boot > m.now
	switch {
	case there && text == config && !fresh:
		return []string{codeJoined, number(m.now), marker}
	case mode == "replace" && (len(args) < 4 || args[3] == marker), mode == "found" && (!there || text == config):
		return []string{codeJoined, number(m.now), m.mark(keys[0], run, config)}
	case there && mode == "drain":
		old, draining := strings.CutPrefix(text, drainingPrefix)
		if !draining || boot > m.now {
			boot = m.now
			marker = run + ":" + number(boot) + ":" + drainingPrefix + old
			m.set(keys[0], marker, 0)
		}
		return []string{codeDraining, number(m.now), marker, number(boot)}
	case there && text != config:
		return []string{codeConfig, number(m.now), marker}
	}
	return []string{codeFresh, number(m.now), marker}
}

// mark begins a life of the node.
func (m *modelNode) mark(key, run, config string) string {
	boot := m.now
	if run == ungated {
		boot = 0
	}
	marker := run + ":" + number(boot) + ":" + config
	m.set(key, marker, 0)
	return marker
}
