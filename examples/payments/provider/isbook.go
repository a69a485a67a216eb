package provider

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// IsBook says whether r is the book of an earlier run: every line is an object
// with the fields of a [Charge], and no others. So is an empty one.
func IsBook(r io.Reader) (bool, error) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadSlice('\n') // no charge is longer than its buffer
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			return true, nil
		case errors.Is(err, bufio.ErrBufferFull):
			return false, nil
		case err != nil && !errors.Is(err, io.EOF):
			return false, err
		case !isCharge(line):
			return false, nil
		}
	}
}

func isCharge(line []byte) bool {
	fields := json.NewDecoder(bytes.NewReader(line))
	fields.DisallowUnknownFields()
	var c Charge
	if fields.Decode(&c) != nil || fields.More() {
		return false
	}
	return c.Charge != "" && c.ID != "" && c.Account != "" && c.Amount > 0 && c.Currency != "" && !c.At.IsZero()
}
