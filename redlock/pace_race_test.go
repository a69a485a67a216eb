//go:build race

package redlock

// The race detector makes a schedule ten times as slow, and much else.
const (
	simSeeds = 100
	atOnce   = "3"
)
