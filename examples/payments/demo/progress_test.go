package demo

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProgressIsALineASecondWhereThereIsNoTerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		p := newProgress(&out, 640)
		for i := range 25 {
			p.show(state{charged: int64(10 * i), contended: 3, skipped: 2, waiting: 1, retrying: 4})
			<-time.After(100 * time.Millisecond)
		}
		p.end()
		want := "  1.0s  100 of 640 charged; 3 contended, 2 duplicates skipped, 1 jobs waiting, 4 in the retry set\n" +
			"  2.0s  200 of 640 charged; 3 contended, 2 duplicates skipped, 1 jobs waiting, 4 in the retry set\n"
		if out.String() != want {
			t.Errorf("got\n%swant\n%s", &out, want)
		}
	})
}

func TestARunInWhichNothingGetsDoneIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStall()
		for range 3 { // anything new starts the time again
			<-time.After(stallTime - time.Second)
			if err := s.check(state{charged: time.Now().Unix()}, jobs{}); err != nil {
				t.Fatal(err)
			}
		}
		last := s.last
		<-time.After(stallTime)
		if err := s.check(last, jobs{retrying: 3}); err == nil || !strings.Contains(err.Error(), "3 are in the retry set") {
			t.Errorf("got %v", err)
		}
	})
}
