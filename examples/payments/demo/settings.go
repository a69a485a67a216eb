package demo

import (
	"crypto/rand"
	"strings"
)

// Settings say where everything is. The parent makes them, and every worker
// process gets them.
type Settings struct {
	Redis     string   // URL of the queue's
	Locks     []string // URLs of the lock nodes
	Namespace string   // of every key on the lock nodes

	Queue       string
	SecondQueue string // that duplicates come through

	DB          string // DSN of the ledger
	Provider    string // URL of the payment provider
	Concurrency int
	OTLP        string // collector; "" is none

	Unsafe bool // without locks and records
}

// newSettings names queues and keys after the run, so that two runs on one Redis
// do not meet, and so that a run can clean up after itself.
func newSettings(o Options) Settings {
	run := strings.ToLower(rand.Text()[:8])
	return Settings{
		Namespace:   "holdfast-payments-" + run + ":",
		Queue:       "payments-" + run,
		SecondQueue: "payments-" + run + "-again",
		Concurrency: o.Concurrency,
		OTLP:        o.OTLP,
		Unsafe:      o.Unsafe,
	}
}
