// Package redlock is a quorum lock over independent Redis nodes, with fencing
// tokens: Redlock, with the holes closed that its critics and users found.
//
// A [Locker] takes claims on 1, 3, 5 or 7 nodes. What it grants is a [Lease]: its
// context is live while it is held, and ends with a cause when it is lost; its
// token is larger than that of every lease before it, so that a database can
// refuse a holder who was paused and does not know. A lease extends itself until
// it is released, finished, or lost.
//
// Most callers want [Locker.Do]. [Locker.Acquire] waits, [Locker.TryAcquire] does
// not, and both take a [Claim]: up to 16 keys under one token, all or none, and a
// key under which the work's completion is recorded by [Lease.Finish], so that
// whoever comes later is told what became of it, in a [DoneError].
//
// # What holds, and when not
//
// Two leases of one key are never valid at once as long as no node that counted
// for both stepped its clock by more than the margin (10 % of the TTL, at least
// 20 ms). A node that restarts, with or without its data, does not vote until
// every lock that it may have forgotten has run out, and the holders set their
// grants on it again; a node that is swapped for another behind one address,
// without a restart, cannot be told from outside. The holder must stop when its
// context ends, and nothing outside a process can make a paused one stop: write
// the token with every effect and refuse lower ones.
//
// A completion record answers while a majority of nodes keeps it. One that fewer
// keep is completed before it is answered. Nodes without persistence forget
// records when they restart.
//
// The protocol, with its proofs and assumptions, is in docs/protocol.md.
//
// # Start-up
//
// Every node carries the fleet's configuration; who differs gets a [ConfigError],
// and [Reconfigure] changes it. The first start of new nodes waits MaxTTL, once:
// see [Locker.Ready]. [Locker.Check] looks for what will hurt later.
//
// # Costs
//
// One round trip to all nodes for a grant, one for the settlement; the answer of
// a majority is enough, so one slow or dead node delays nothing. An extension
// every third of the TTL. Goroutines: one for all leases, one per node, and two
// more per node from the first wait on.
package redlock
