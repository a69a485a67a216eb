package lock_test

import (
	"context"
	"encoding/json"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/internal/servers"
	"github.com/holdfastjobs/holdfast/queue"
	"github.com/holdfastjobs/holdfast/redlock"
)

// stage is one job, two worker processes and what a sweeper does, on real servers.
type stage struct {
	t         *testing.T
	redis     redis.UniversalClient
	inspector *asynq.Inspector
}

func newStage(t *testing.T, url string) (*stage, asynq.RedisConnOpt) {
	opt := holdfast.Must(asynq.ParseRedisURI(url))
	s := &stage{t: t, redis: opt.MakeRedisClient().(redis.UniversalClient), inspector: asynq.NewInspector(opt)}
	t.Cleanup(func() {
		if err := errors.Join(s.redis.Close(), s.inspector.Close()); err != nil {
			t.Error(err)
		}
	})
	return s, opt
}

const taskID = "charge:ch_1"

// moved takes the job from a worker that is paused or dead, as recovery does.
func (s *stage) moved() {
	s.t.Helper()
	if err := s.redis.Eval(context.Background(), `
		assert(redis.call("LREM", KEYS[1], 0, ARGV[1]) == 1 and redis.call("ZREM", KEYS[2], ARGV[1]) == 1)
		redis.call("RPUSH", KEYS[3], ARGV[1])
		return redis.call("HSET", KEYS[4], "state", "pending")`,
		[]string{"asynq:{default}:active", "asynq:{default}:lease", "asynq:{default}:pending", "asynq:{default}:t:" + taskID}, taskID).Err(); err != nil {
		s.t.Fatal(err)
	}
}

// state is the entry's, 0 when there is none.
func (s *stage) state() asynq.TaskState {
	info, err := s.inspector.GetTaskInfo("default", taskID)
	if err != nil {
		return 0
	}
	return info.State
}

func (s *stage) becomes(want asynq.TaskState) {
	s.t.Helper()
	eventually(s.t, "the entry's state is "+want.String(), func() bool { return s.state() == want })
}

// The control of the test below: asynq acts on the answer of the stale attempt,
// and with the newer one dead the job is lost.
func TestAStaleAnswerLosesTheJobOnPlainAsynq(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[string]asynq.TaskState{"nil": 0, "skip": asynq.TaskStateArchived} {
		t.Run(verdict, func(t *testing.T) {
			t.Parallel()
			r := role{Queue: servers.RedisNodes(t, 1)[0].URL()}
			s, opt := newStage(t, r.Queue)
			producer := asynq.NewClient(opt)
			defer producer.Close()
			holdfast.Must(producer.Enqueue(asynq.NewTask("charge", holdfast.Must(json.Marshal(charge{ID: "ch_1"}))), asynq.TaskID(taskID)))

			a := r.start(t)
			a.running()
			a.signal(syscall.SIGSTOP)
			s.moved()
			b := r.start(t)
			b.running()
			a.signal(syscall.SIGCONT)
			a.tell(verdict)
			eventually(t, "asynq acts on it", func() bool { return s.state() == want })
			b.signal(syscall.SIGKILL)
			if got := s.state(); got != want {
				t.Errorf("state %v", got)
			}
		})
	}
}

// A is paused for longer than its lock lives, B takes over, A resumes and answers
// while B runs, and then B dies.
func TestAnAttemptWithoutItsTenureDoesNotTouchTheNewerOne(t *testing.T) {
	t.Parallel()
	for _, verdict := range []string{"nil", "skip", "panic"} {
		t.Run(verdict, func(t *testing.T) {
			t.Parallel()
			n := nodes{}
			for _, node := range servers.RedisNodes(t, 3) {
				n.urls = append(n.urls, node.URL())
			}
			r := role{Queue: servers.RedisNodes(t, 1)[0].URL(), Locks: n.urls}
			locker := n.locker(t)
			s, opt := newStage(t, r.Queue)
			jobs := holdfast.Must(queue.New(queue.Config{Redis: opt, Records: locker}))
			defer jobs.Close()
			holdfast.Must(jobs.Enqueue(t.Context(), charge{ID: "ch_1"}, queue.MaxAttempts(1)))

			a := r.start(t)
			a.running()
			a.signal(syscall.SIGSTOP)
			lease, err := locker.Acquire(t.Context(), redlock.Claim{Keys: []string{"j/charge/ch_1"}, Wait: 20 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = lease.Release(t.Context())
			s.moved()
			b := r.start(t)
			b.running()
			a.signal(syscall.SIGCONT)
			a.tell(verdict)
			s.becomes(asynq.TaskStateRetry) // where it survives the death of B
			b.signal(syscall.SIGKILL)
			if _, done, err := locker.Record(t.Context(), "j/charge/ch_1"); done || err != nil {
				t.Errorf("recorded: %v, %v", done, err)
			}

			a.running() // again, once B's lock has run out
			a.tell("nil")
			s.becomes(asynq.TaskStateCompleted)
			if info := holdfast.Must(s.inspector.GetTaskInfo("default", taskID)); info.Retried != 0 {
				t.Errorf("%d attempts were counted", info.Retried)
			}
			if _, done, err := locker.Record(t.Context(), "j/charge/ch_1"); !done {
				t.Errorf("not recorded: %v", err)
			}
			if left := len(a.runs) + len(b.runs); left != 0 {
				t.Errorf("%d runs too many", left)
			}
		})
	}
}
