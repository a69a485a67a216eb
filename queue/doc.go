// Package queue puts typed jobs on an asynq queue, each at most once per job ID.
//
// # What a job ID does here
//
// The job ID of [holdfast.Args] is an idempotency key within its kind. While
// the queue still has an entry for it (waiting, running, done until its
// [Retention] ends, or archived), a second enqueue adds nothing: it answers
// with a [DuplicateError] when the payload is the same one, and with a
// [MismatchError] when it is another. Both say in which state the entry is.
//
// Payloads are compared as encoded. A field that is added to the type between
// two enqueues of one ID makes another payload of it.
//
// Queues do not know each other's entries, and no entry outlives its retention:
// a duplicate that gets past this package is found at its execution, by the
// lock middleware. [Client.Result] reads what that recorded.
//
// # A lost reply
//
// When Redis did what it was told and the reply was lost, the client sends the
// command again and finds its own entry, which it knows by the nonce in its
// headers: one entry, and success. When no try gets an answer, the error leaves
// open whether the job is queued. Enqueue it again under the same job ID:
// [ErrDuplicate] then means that it was.
//
// # The retry queue
//
// There is no queue of its own for jobs that wait for another attempt or for a
// lock: they are in the retry set of their queue, under their ID, with headers,
// budget and retention as they were, and every asynq tool shows them there.
package queue
