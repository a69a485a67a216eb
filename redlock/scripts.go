package redlock

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed lua/call.lua
var callText string

//go:embed lua/acquire.lua
var acquireText string

//go:embed lua/extend.lua
var extendText string

//go:embed lua/settle.lua
var settleText string

//go:embed lua/answer.lua
var answerText string

//go:embed lua/join.lua
var joinText string

// script is a Lua text as a node keeps it, under its SHA.
type script struct{ text, sha string }

// life is one life of one node under one configuration, as its marker tells it,
// and the script that works in no other.
type life struct {
	marker      string // run_id:boot_us:config
	boot, ready int64  // from when, and from when with a vote, by the node's clock in microseconds since 1970; 0 of an ungated node
	script      script
}

// ungated stands for the run ID of a node that does not tell it. Such a node has
// no boot, so no quarantine and no floor of its own.
const ungated = "ungated"

func newLife(marker string, cfg Config) (life, error) {
	run, rest, _ := strings.Cut(marker, ":")
	since, config, ok := strings.Cut(rest, ":")
	boot, err := strconv.ParseInt(since, 10, 64)
	// The marker becomes a word in quotes in a script.
	if outside := func(r rune) bool { return r < ' ' || r > '~' || r == '\'' || r == '\\' }; err != nil || !ok || boot < 0 ||
		run == "" || config == "" || strings.ContainsFunc(marker, outside) {
		return life{}, fmt.Errorf("redlock: marker %q: want run_id:boot_us:config", marker)
	}
	ready, floor := boot+cfg.MaxTTL.Microseconds(), boot+cfg.Bound.Microseconds()
	if run == ungated {
		boot, ready, floor = 0, 0, 0
	}
	fill := strings.NewReplacer("@MARKER@", marker, "@BOOT@", number(boot), "@READY@", number(ready), "@BOOTFLOOR@", number(floor),
		"@BOUND@", micros(cfg.Bound), "@FENCETTL@", micros(cfg.FenceTTL), "@FENCETTL_MS@", millis(cfg.FenceTTL))
	text := fill.Replace(callText + acquireText + extendText + settleText + answerText)
	return life{marker: marker, boot: boot, ready: ready, script: scriptOf(text)}, nil
}

func scriptOf(text string) script {
	sum := sha1.Sum([]byte(text)) // Redis's own name for a script; nothing relies on its strength
	return script{text: text, sha: hex.EncodeToString(sum[:])}
}

// configText is what all processes of a fleet must agree on, as the marker holds
// it: for people to read, and the same in whatever order the nodes are listed.
func configText(cfg Config) string {
	names := make([]string, len(cfg.Nodes))
	for i, n := range cfg.Nodes {
		names[i] = n.name()
	}
	slices.Sort(names)
	return fmt.Sprintf("nodes=%s maxttl=%v bound=%v fencettl=%v", strings.Join(names, ","), cfg.MaxTTL, cfg.Bound, cfg.FenceTTL)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func micros(d time.Duration) string { return number(d.Microseconds()) }

// millis rounds up: what a node keeps must not end before its time, and Redis
// refuses a fraction.
func millis(d time.Duration) string { return number((d + time.Millisecond - 1).Milliseconds()) }

// The first word of an answer.
const (
	codeOK          = "OK"
	codeHeld        = "HELD"
	codeDone        = "DONE"
	codeLow         = "LOW"
	codeFuture      = "FUTURE"
	codeLost        = "LOST"
	codeGone        = "GONE"
	codeRepaired    = "REPAIRED"
	codeStale       = "STALE"
	codeNone        = "NONE"
	codeRejoin      = "REJOIN"
	codeQuarantined = "QUARANTINED"
	codeJoined      = "JOINED"
	codeFresh       = "FRESH"
	codeConfig      = "CONFIG"
	codeDraining    = "DRAINING"
)
