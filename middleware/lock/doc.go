// Package lock runs a job's handler only while its quorum lock is held.
//
//	worker.Handle(w, store.Charge, lock.Middleware(locker,
//		lock.Also(func(c Charge) []string { return []string{"account/" + c.Account} })))
//
// The key is the job's own, j/<kind>/<id>, and with [Also] the resources it
// touches, r/<name>: all of them or none, under one fencing token. The lease is
// extended until the handler's goroutine returns, its timeout notwithstanding.
// What a handler reads from its context: [holdfast.TenureFrom] has the keys, the
// token and whether the holder before died; [redlock.LeaseFrom] has the lease.
//
// # What happens to the job
//
//   - the lock is granted: the handler runs. Its nil is recorded on a majority of
//     lock nodes before the queue is told: from then on the job is done.
//   - the job is done already: acknowledged, with the stored result, and the
//     handler does not run. With another payload: archived, [holdfast.ErrMismatch].
//   - another holds a key: the job goes back to the retry set of its queue (that
//     is the retry queue) and comes again with exponential backoff, by default
//     after about 1, 2, 4 s … to 1 min. It is not counted as a failure and never
//     archived for it, unless [MaxWait] says so. The lock nodes keep the count.
//   - no quorum of lock nodes answers: the same, with a backoff of its own.
//   - the handler fails: the lock is released and the error goes on, unchanged.
//   - the lock is lost while the handler runs: its context ends, with a
//     [redlock.ErrLost] as the cause.
//   - the handler is unhealthy, stalls or holds the lock for too long, as [Healthy],
//     [Stall] and [MaxHold] say: the same, and it is a failure, [ErrGivenUp], which
//     counts. Cancelled, not killed: what does not heed its context runs on.
//   - the handler returned nil and it could not be recorded, because the lock is
//     another's by now or because no majority confirmed: tried again later, never
//     acknowledged; whoever comes next learns the truth from the record.
//
// The queue may archive a job of another producer for any answer at all on its
// last attempt ([holdfast.Job].Cornered). Such a job waits in place, for up to
// 30 s, instead of going back.
package lock
