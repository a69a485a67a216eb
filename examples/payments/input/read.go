package input

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// maxLine is the longest line, in bytes.
const maxLine = 1 << 20

// Read reads all payments from r. The format is CSV with a header when name
// ends in .csv, JSON Lines when it ends in .json, .jsonl or .ndjson, and is told by
// the first character otherwise: JSON Lines begins with a brace.
//
// A line that repeats an earlier one is a payment submitted twice and is kept.
// The same id with other contents is a bad line: one key cannot mean two
// payments. Bad lines are reported together, as [*BadLinesError]; an input without
// any payment is an error too.
func Read(name string, r io.Reader) ([]Payment, error) {
	in := bufio.NewReader(r)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3) // they were there to be peeked at
	}
	c := &collector{name: name, first: make(map[string]place)}
	read := readJSON
	if isCSV(name, in) {
		read = readCSV
	}
	if err := read(in, c); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if c.bad.Count > 0 {
		return nil, &c.bad
	}
	if len(c.payments) == 0 {
		return nil, fmt.Errorf("%s: no payments in it", name)
	}
	return c.payments, nil
}

func isCSV(name string, in *bufio.Reader) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		return true
	case ".json", ".jsonl", ".ndjson":
		return false
	}
	head, _ := in.Peek(in.Size())
	head = bytes.TrimSpace(head)
	return len(head) > 0 && head[0] != '{'
}

// collector takes the lines of either format.
type collector struct {
	name     string
	payments []Payment
	first    map[string]place // by id
	bad      BadLinesError
}

type place struct {
	line    int
	payment Payment
}

func (c *collector) reject(line int, f *flaw) { c.bad.add(c.name, line, f) }

func (c *collector) accept(line int, p Payment) {
	before, seen := c.first[p.ID]
	if seen && before.payment != p {
		c.reject(line, &flaw{fieldID, fmt.Sprintf("%s is in line %d too, with another %s", quote(p.ID), before.line, p.differs(before.payment))})
		return
	}
	if !seen {
		c.first[p.ID] = place{line, p}
	}
	c.payments = append(c.payments, p)
}
