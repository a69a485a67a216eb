package retry_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfastjobs/holdfast/retry"
)

func ExampleExponential() {
	p := retry.Exponential(time.Second, time.Minute)
	for attempt := 1; attempt <= 10; attempt++ {
		fmt.Print(p.Delay(attempt), " ")
	}
	// Output: 1s 2s 4s 8s 16s 32s 1m0s 1m0s 1m0s 1m0s
}

func ExampleJitter() {
	p := retry.Jitter(retry.Constant(10*time.Second), 0.5)
	d := p.Delay(1)
	fmt.Println(d >= 5*time.Second && d <= 15*time.Second)
	// Output: true
}

func ExampleOf() {
	errDeclined := errors.New("card declined")

	err := fmt.Errorf("charge: %w", retry.Never(errDeclined))
	fmt.Println(err, "→", retry.Of(err).Kind)

	err = retry.Later(errors.New("account is locked"), 2*time.Second)
	fmt.Println(err, "→", retry.Of(err).Kind, retry.Of(err).Delay)

	fmt.Println(retry.Of(errDeclined).Kind)
	// Output:
	// charge: card declined → never
	// account is locked → later 2s
	// retry
}
