// Package workertest runs one delivery of a job through everything that a worker puts
// around a handler, in a moment and without Redis:
//
//	report := workertest.Run(t.Context(), workertest.NewJob(Charge{ID: "ch_1"}), store.Charge)
//	report.Want(t, retry.KindDone)
//
// The payload is encoded and decoded, the middlewares, the budget, the timeout and the
// rules for panics are the worker's own, and the verdict is what the queue would be
// told. With testing/synctest an hour's timeout takes no time.
//
// A [Lock] stands for the lock middleware: it gives tenures with rising tokens, keeps
// records, and can be told to be held by another or to be lost, at any moment:
//
//	var lock workertest.Lock
//	bank.OnCharge = func() { lock.Lose(redlock.ErrLost) }
//	report := workertest.Run(t.Context(), job, store.Charge, lock.Middleware)
//	report.Want(t, retry.KindLater)
//
// It is no lock: it keeps jobs of one process and one Lock value apart, and knows
// nothing of resources, TTLs and quorums. Package holdfasttest has the real ones.
package workertest
