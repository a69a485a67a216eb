// Package holdfast holds the words that every room of Holdfast shares: what a
// job is ([Args], [Job]), how a handler chain is built ([Handler],
// [Middleware]), what a lock puts in a context ([Tenure]), and how all of it
// reports to OpenTelemetry ([Telemetry]).
//
// It knows neither asynq nor Redis nor SQL. The rooms that do are
//
//   - queue: puts typed jobs on an asynq queue;
//   - worker: runs their handlers, or puts middlewares in front of an asynq
//     server's;
//   - middleware/lock: runs a handler only while a quorum lock is held;
//   - redlock: that lock, for use without jobs too;
//   - retry: when to try again;
//   - embedded: an in-process Redis for examples and tests;
//   - worker/workertest and holdfasttest: one delivery, or a whole fleet, in your
//     own tests.
//
// # The guarantee
//
// Delivery is at-least-once. At most one live handler runs per job and per
// resource while a majority of lock nodes answers, no counted node's clock
// steps by more than the margin, and handlers stop when their context ends. At
// most one completion is recorded per job while its record lives.
//
// A lease does not stop a process that was paused after it looked at its
// lease. The token check in your own database does: write Token with every
// row, in the manner of WHERE last_token <= $token.
package holdfast
