package holdfast

// Must returns v, or panics with err. It is for the start of a program, where a
// bad configuration should end it:
//
//	locker := holdfast.Must(redlock.New(config))
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
