package main

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// figures are what holding the leases took.
type figures struct {
	none, held       usage
	acquired, lasted time.Duration
	process, servers float64 // CPU seconds while the leases were held
	lost             int     // leases whose context had ended
	gone             int     // further ones that were too late for their release
	unknown          int     // releases that too few nodes answered
}

// spare is by how many goroutines a process that holds leases may differ.
const spare = 20

// more is by how many goroutines the process that holds differs at the worst.
func (f *figures) more() int {
	return max(f.held.most-f.none.goroutines, f.none.goroutines-f.held.goroutines)
}

func (f *figures) print(w io.Writer, leases int) {
	fmt.Fprintf(w, "acquired in   %.1f s, %.0f a second\n", f.acquired.Seconds(), float64(leases)/f.acquired.Seconds())
	fmt.Fprintf(w, "goroutines    %d holding none, %d holding all, %d at most\n", f.none.goroutines, f.held.goroutines, f.held.most)
	fmt.Fprintf(w, "heap in use   %.0f bytes a lease\n", (float64(f.held.heap)-float64(f.none.heap))/float64(leases))
	for _, part := range []struct {
		name    string
		seconds float64
	}{{"this process", f.process}, {"the nodes", f.servers}} {
		fmt.Fprintf(w, "CPU           %.2f s in %.1f s by %s, %.0f %% of a core\n",
			part.seconds, f.lasted.Seconds(), part.name, 100*part.seconds/f.lasted.Seconds())
	}
	fmt.Fprintf(w, "lost          %d, and %d while all were released; %d releases are unknown\n", f.lost, f.gone, f.unknown)
}

// verdict is an error if a lease was lost, or goroutines grew with the leases.
func (f *figures) verdict() error {
	var errs []error
	if n := f.lost + f.gone; n > 0 {
		errs = append(errs, fmt.Errorf("%d leases were lost", n))
	}
	if n := f.more(); n > spare {
		errs = append(errs, fmt.Errorf("goroutines differ by %d, want at most %d", n, spare))
	}
	return errors.Join(errs...)
}
