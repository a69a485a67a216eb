// Command hello is the first program: two workers, one job in both their
// queues, one of them runs it, under a lock, and the other skips it.
package main
