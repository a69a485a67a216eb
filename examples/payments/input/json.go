package input

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// readJSON reads one object a line. Blank lines and fields of other names are
// passed over.
func readJSON(in *bufio.Reader, c *collector) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if p, f := parseObject(line); f != nil {
			c.reject(n, f)
		} else {
			c.accept(n, p)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		c.reject(n+1, &flaw{"line", "longer than 1 MiB"})
	} else if err != nil {
		return err
	}
	return nil
}

func parseObject(line []byte) (Payment, *flaw) {
	if !utf8.Valid(line) {
		return Payment{}, &flaw{"line", "not UTF-8"}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil || object == nil {
		return Payment{}, &flaw{"line", "not a JSON object: " + cause(err)}
	}
	var texts [4]string
	for i, field := range fields {
		raw, has := object[field]
		if !has {
			return Payment{}, &flaw{field, "missing"}
		}
		text := raw[0] == '"'
		switch {
		case field == fieldAmount && text:
			return Payment{}, &flaw{field, fmt.Sprintf("%s is not a number", shorten(string(raw)))}
		case field == fieldAmount:
			texts[i] = string(raw)
		case !text || json.Unmarshal(raw, &texts[i]) != nil:
			return Payment{}, &flaw{field, fmt.Sprintf("%s is not a string", shorten(string(raw)))}
		}
	}
	return parse(texts[0], texts[1], texts[2], texts[3])
}

// cause leaves out what encoding/json says about Go types.
func cause(err error) string {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return syntax.Error()
	}
	return "want one with " + fieldID + ", " + fieldAccount + ", " + fieldAmount + " and " + fieldCurrency
}
