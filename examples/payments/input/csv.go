package input

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// readCSV reads a header and one payment a record. Columns may come in any order,
// and columns of other names are passed over.
func readCSV(in *bufio.Reader, c *collector) error {
	records := csv.NewReader(in)
	records.FieldsPerRecord = -1 // counted below, to go on after a short one
	var columns []int
	width := 0
	for {
		record, err := records.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			c.reject(parse.StartLine, &flaw{"line", "not CSV: " + parse.Err.Error()})
			continue
		}
		if err != nil {
			return err
		}
		line, _ := records.FieldPos(0)
		if columns == nil {
			found, f := locate(record)
			if f != nil {
				c.reject(line, f)
				return nil // without a header no line means anything
			}
			columns, width = found, len(record)
			continue
		}
		if p, f := parseRecord(record, columns, width); f != nil {
			c.reject(line, f)
		} else {
			c.accept(line, p)
		}
	}
}

// locate finds the columns of the four fields, in their order.
func locate(header []string) ([]int, *flaw) {
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	columns := make([]int, 0, len(fields))
	for _, field := range fields {
		column := slices.Index(header, field)
		if column < 0 {
			return nil, &flaw{field, "no such column in the header; want " + strings.Join(fields, ",")}
		}
		columns = append(columns, column)
	}
	return columns, nil
}

func parseRecord(record []string, columns []int, width int) (Payment, *flaw) {
	if len(record) != width {
		return Payment{}, &flaw{"line", fmt.Sprintf("%d fields where the header has %d", len(record), width)}
	}
	var texts [4]string
	for i, column := range columns {
		texts[i] = strings.TrimSpace(record[column])
		if !utf8.ValidString(texts[i]) {
			return Payment{}, &flaw{fields[i], "not UTF-8"}
		}
	}
	return parse(texts[0], texts[1], texts[2], texts[3])
}
