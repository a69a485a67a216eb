package redlock

// choices are a stream of bytes that decides what a sequence does, so that the
// fuzzer can change what a seed began. At its end the sequence ends.
type choices struct{ left []byte }

func (c *choices) more() bool { return len(c.left) > 0 }

// below is less than n, and 0 when nothing is left.
func (c *choices) below(n int) int {
	if len(c.left) == 0 {
		return 0
	}
	b := c.left[0]
	c.left = c.left[1:]
	return int(b) % n
}

func oneOf[T any](c *choices, from ...T) T { return from[c.below(len(from))] }

// near is one of the numbers or its neighbour, never negative.
func near(c *choices, numbers ...int64) int64 {
	return max(0, oneOf(c, numbers...)+oneOf[int64](c, 0, 1, -1, 2, -2, 0))
}
