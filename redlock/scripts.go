package redlock

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

//go:embed lua/acquire.lua
var acquireText string

//go:embed lua/extend.lua
var extendText string

//go:embed lua/settle.lua
var settleText string

// script is a Lua text as a node keeps it, under its SHA.
type script struct{ text, sha string }

type scripts struct{ acquire, extend, settle script }

func newScripts(bound, fenceTTL time.Duration) scripts {
	fill := strings.NewReplacer("@BOUND@", micros(bound), "@FENCETTL@", micros(fenceTTL), "@FENCETTL_MS@", millis(fenceTTL))
	build := func(text string) script {
		text = fill.Replace(text)
		sum := sha1.Sum([]byte(text)) // Redis's own name for a script; nothing relies on its strength
		return script{text: text, sha: hex.EncodeToString(sum[:])}
	}
	return scripts{acquire: build(acquireText), extend: build(extendText), settle: build(settleText)}
}

func micros(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }

// millis rounds up: what a node keeps must not end before its time, and Redis
// refuses a fraction.
func millis(d time.Duration) string {
	return strconv.FormatInt((d + time.Millisecond - 1).Milliseconds(), 10)
}

// The first word of a script's reply.
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
)
