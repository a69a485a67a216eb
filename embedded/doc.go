// Package embedded runs Redis inside the calling process, for examples and
// tests: a queue Redis and a set of lock nodes on loopback ports that the
// system picks, with nothing to install.
//
//	fleet, err := embedded.Start(3)
//	if err != nil {
//		return err
//	}
//	defer fleet.Close()
//	locker, err := redlock.New(redlock.Config{Nodes: redlock.URLs(fleet.Locks()...), Ungated: true})
//
// The servers are miniredis: real enough for the queue, the lock scripts,
// TTLs (right to about 10 ms, early or late; more on a machine under load), TIME and publish/subscribe.
//
// What it does not give, and why it is for examples and tests only:
//
//   - No independence. All nodes share one process, one clock and one fate, so
//     a majority of them outlives nothing that one of them does not.
//   - No persistence. The data is gone when the process ends.
//   - No speed: about a sixth of what redis-server does on the same machine.
//   - Not all of Redis: no INFO server, FUNCTION, CONFIG, ROLE or CLIENT PAUSE,
//     and other texts in script errors.
//
// Run real redis-server processes on machines of their own for anything that
// matters.
package embedded
