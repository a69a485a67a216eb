package demo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holdfastjobs/holdfast/examples/payments/provider"
)

// checkBook refuses to overwrite what is no book of an earlier run: the input
// above all.
func checkBook(o Options, stdin io.Reader) error {
	switch {
	case o.Book == "":
		return nil
	case o.DB != "" && filepath.Clean(o.Book) == filepath.Clean(o.DB):
		return fmt.Errorf("-book: %s is the ledger of -db; name another file", o.Book)
	}
	info, err := os.Stat(o.Book)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("-book: %w", err)
	case isInput(info, o.In, stdin):
		return fmt.Errorf("-book: %s is the file of -in; name another file", o.Book)
	case !info.Mode().IsRegular():
		return nil // a pipe or a terminal has nothing to lose
	}
	file, err := os.Open(o.Book)
	if err != nil {
		return fmt.Errorf("-book: %w", err)
	}
	defer file.Close()
	isBook, err := provider.IsBook(file)
	if err != nil {
		return fmt.Errorf("-book: %w", err)
	}
	if !isBook {
		return fmt.Errorf("-book: %s exists and is not the book of an earlier run; name another file", o.Book)
	}
	return nil
}

// isInput also knows a file that a shell made standard input. A terminal may be
// both.
func isInput(book fs.FileInfo, in string, stdin io.Reader) bool {
	if !book.Mode().IsRegular() {
		return false
	}
	if in != "-" {
		info, err := os.Stat(in)
		return err == nil && os.SameFile(book, info)
	}
	file, isFile := stdin.(*os.File)
	if !isFile {
		return false
	}
	info, err := file.Stat()
	return err == nil && os.SameFile(book, info)
}
