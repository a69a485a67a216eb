package input

import (
	"fmt"
	"strings"
)

// maxShown is how many bad lines are reported one by one.
const maxShown = 20

// flaw is what is wrong with a line: its first bad field, and why.
type flaw struct{ field, reason string }

// BadLinesError is the error of [Read] for input that was read and is not good.
type BadLinesError struct {
	Count int      // of bad lines
	Shown []string // the first 20, as FILE:LINE: field: reason
}

// Error is one bad line a line, and the number of those not shown.
func (p *BadLinesError) Error() string {
	if rest := p.Count - len(p.Shown); rest > 0 {
		return fmt.Sprintf("%s\nand %d more bad lines", strings.Join(p.Shown, "\n"), rest)
	}
	return strings.Join(p.Shown, "\n")
}

func (p *BadLinesError) add(name string, line int, f *flaw) {
	p.Count++
	if len(p.Shown) < maxShown {
		p.Shown = append(p.Shown, fmt.Sprintf("%s:%d: %s: %s", name, line, f.field, f.reason))
	}
}
