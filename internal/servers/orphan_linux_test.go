package servers

import "testing"

func TestServersEndWithAParentThatIsKilled(t *testing.T) {
	t.Parallel()
	for _, addr := range killedParent(t) {
		eventually(t, addr+" is gone", func() bool { return !listens(addr) })
	}
}
