package servers

import (
	"net"
	"testing"
	"time"
)

func TestADialToADeadAddressGetsNoAnswer(t *testing.T) {
	t.Parallel()
	addr := DeadAddr(t)
	for range 3 {
		began := time.Now()
		c, err := net.DialTimeout("tcp", addr, 100*time.Millisecond)
		if took := time.Since(began); !isTimeout(err) || took < 90*time.Millisecond {
			t.Errorf("after %v: %v, %v", took, c, err)
		}
	}
}
