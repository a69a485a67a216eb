package demo

import (
	"crypto/rand"
	"strings"
)

// Settings say where everything is. The parent makes them, and every worker
// process gets them.
type Settings struct {
	Redis     string   `json:"redis"`     // URL of the queue's
	Locks     []string `json:"locks"`     // URLs of the lock nodes
	Namespace string   `json:"namespace"` // of every key on the lock nodes
	Ungated   bool     `json:"ungated"`   // the lock nodes are embedded: they do not restart, and could not tell

	Queue       string `json:"queue"`
	SecondQueue string `json:"second_queue"` // that duplicates come through

	DB          string `json:"db"`       // DSN of the ledger
	Provider    string `json:"provider"` // URL of the payment provider
	Concurrency int    `json:"concurrency"`
	OTLP        string `json:"otlp"` // collector; "" is none

	Unsafe bool `json:"unsafe"` // without locks and records
}

// newSettings names queues and keys after the run when the servers are not its
// own, so that two runs on one Redis do not meet, and so that each can clean up
// after itself.
func newSettings(o Options) Settings {
	run := ""
	if o.Redis != "" || len(o.Locks) > 0 {
		run = "-" + strings.ToLower(rand.Text()[:8])
	}
	return Settings{
		Namespace:   "holdfast-payments" + run + ":",
		Queue:       "payments" + run,
		SecondQueue: "payments-again" + run,
		Concurrency: o.Concurrency,
		OTLP:        o.OTLP,
		Unsafe:      o.Unsafe,
	}
}
