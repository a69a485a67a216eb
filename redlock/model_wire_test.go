package redlock

// answer is one command's: a bulk reply is one text, a nil one is redis.Nil.
type answer struct {
	text []string
	err  error
}
