package demo

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// state is what progress shows.
type state struct {
	charged, contended, skipped int64
	waiting, retrying           int64 // jobs
}

func (s state) String() string {
	return fmt.Sprintf("%d contended, %d duplicates skipped, %d jobs waiting, %d in the retry set", s.contended, s.skipped, s.waiting, s.retrying)
}

// progress shows how far a run is: a bar on a terminal, a line a second
// elsewhere.
type progress interface {
	show(s state)
	end()
}

func newProgress(w io.Writer, total int) progress {
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return &bar{progressbar.NewOptions(total,
			progressbar.OptionSetWriter(w),
			progressbar.OptionSetWidth(24),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetDescription("charged"),
		)}
	}
	return &lines{w: w, total: total, began: time.Now(), last: time.Now()}
}

type bar struct{ bar *progressbar.ProgressBar }

func (b *bar) show(s state) {
	b.bar.Describe(fmt.Sprintf("charged (%d contended, %d in the retry set)", s.contended, s.retrying))
	_ = b.bar.Set64(s.charged)
}

func (b *bar) end() { _ = b.bar.Clear() }

type lines struct {
	w           io.Writer
	total       int
	began, last time.Time
}

func (l *lines) show(s state) {
	if now := time.Now(); now.Sub(l.last) >= time.Second {
		l.last = now
		fmt.Fprintf(l.w, "%5.1fs  %d of %d charged; %v\n", now.Sub(l.began).Seconds(), s.charged, l.total, s)
	}
}

func (l *lines) end() {}
