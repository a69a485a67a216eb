//go:build !race

package redlock

const (
	simSeeds = 2000
	atOnce   = "8"
)
