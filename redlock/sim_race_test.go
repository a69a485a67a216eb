//go:build race

package redlock

// The race detector makes a schedule ten times as slow.
const simSeeds = 100
