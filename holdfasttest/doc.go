// Package holdfasttest runs a whole fleet inside a test: a queue Redis and three lock
// nodes in this process, a locker, a queue client, and workers of yours.
//
//	fleet := holdfasttest.Start(t)
//	fleet.Work(worker.Config{}, func(w *worker.Worker) {
//		worker.Handle(w, store.Charge, lock.Middleware(fleet.Locker))
//	})
//	fleet.Enqueue(Charge{ID: "ch_1"})
//	record := fleet.Result("payments.charge", "ch_1")
//
// Time is real here: what meets a lock comes again after a second or two. For the
// verdicts of one handler, package workertest is quicker. What the servers do not give
// is said by package embedded.
package holdfasttest
