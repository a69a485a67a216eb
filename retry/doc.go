// Package retry says when to try again: a [Policy] turns the number of an
// attempt into a delay, and a verdict ([Never], [After], [Later]) lets an error
// itself say what it means for the work that failed.
//
// It knows durations and errors, and nothing of jobs and queues.
//
// # The default policies
//
// The first ten delays, in the middle of their jitter: each is multiplied by a
// random factor between 0.5 and 1.5.
//
//	attempt   1     2     3     4     5     6     7     8     9     10
//	Failure   1s    2s    4s    8s    16s   32s   1m4s  2m8s  4m16s 8m32s
//	Wait      1s    2s    4s    8s    16s   32s   1m    1m    1m    1m
//
// [Failure] stays at ten minutes from the eleventh on.
package retry
