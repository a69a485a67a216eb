package servers

import (
	"errors"
	"net"
	"testing"
)

func TestATakenPortIsToldFromOtherFailures(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := &Redis{addr: l.Addr().String(), dir: t.TempDir()}
	if err := r.Start(); !errors.Is(err, errPortTaken) {
		t.Errorf("got %v", err)
	}
}

func TestATakenPortIsReplacedAndAnotherFailureIsNot(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var ports []int
	err := onFreePort(func(port int) error {
		if ports = append(ports, port); len(ports) < 3 {
			return errPortTaken
		}
		return broken
	})
	if !errors.Is(err, broken) || len(ports) != 3 {
		t.Errorf("got %v after ports %v, want broken after the third", err, ports)
	}
}

func TestTheWinnerOfAPortIsNotTakenForTheLoser(t *testing.T) {
	t.Parallel()
	r := RedisNodes(t, 1)[0]
	if err := pingRedis(t.Context(), r.Addr(), r.proc.pid()); err != nil {
		t.Errorf("its own pid: %v", err)
	}
	if err := pingRedis(t.Context(), r.Addr(), r.proc.pid()+1); err == nil {
		t.Error("another pid was accepted")
	}
}
