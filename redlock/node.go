package redlock

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// node is one lock node as this process knows it: the wire to it, who it is, and
// the sender that all requests to it go through.
type node struct {
	l    *Locker
	at   int // its place in Locker.nodes
	name string
	wire wire
	life atomic.Pointer[life] // as joined last; nil before, and while the node fails

	mu      sync.Mutex
	queue   []*request // waiting to be sent, in this order
	waiting []*request // refused or unanswered, to be sent again at their time
	down    error      // why nothing is sent now; nil while the node answers
	closed  bool
	kick    chan struct{} // the queue has something, or closed
	loop    sync.WaitGroup
}

func newNode(l *Locker, at int, name string, w wire) *node {
	n := &node{l: l, at: at, name: name, wire: w, kick: make(chan struct{}, 1)}
	n.loop.Go(n.serve)
	return n
}

// ownOptions keeps where and as whom the user connects. The job's load must not
// exhaust the pool that renews its lock, a deadline must end a command in time,
// and a command that was sent once must not be sent again behind our back.
func ownOptions(user *redis.Options, timeout time.Duration) *redis.Options {
	o := *user
	o.ContextTimeoutEnabled = true
	o.MaxRetries, o.DialerRetries = -1, 1
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout, timeout
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.Limiter, o.OnConnect, o.ClientSideCacheConfig, o.ClientSideCache, o.AutoPipelineOptions = nil, nil, nil, nil, nil
	// Few are used: one by the sender, one to join on, one to hear releases. But
	// after as many failed dials as the pool is large go-redis looks at the node
	// once a second only, and whether it is back is for the sender to find out.
	o.PoolSize, o.MinIdleConns, o.MaxIdleConns, o.MaxActiveConns = 256, 0, 4, 0
	return &o
}

// reply is what a node says to one request: a code, and the rest.
type reply struct {
	code   string
	fields []string
	record string // completion record, "" for none
	now    int64  // the node's time, in microseconds since 1970
}

// number is field i as a number; 0 when there is none.
func (r reply) number(i int) int64 {
	if i >= len(r.fields) {
		return 0
	}
	n, _ := strconv.ParseInt(r.fields[i], 10, 64)
	return n
}
