package queue

import (
	"time"

	"github.com/hibiken/asynq"
)

// State is what became of a job's entry in its queue.
type State string

// The states of an entry. Who asks for a job gets the first that any queue has.
const (
	Waiting  State = "waiting"  // for a worker, for its time, or in the retry set for another attempt or a lock
	Running  State = "running"  // a worker has it, or had it when it died
	Done     State = "done"     // finished; the entry stays for its retention
	Archived State = "archived" // given up; an operator may run it again
)

// Info describes a job's entry in its queue.
type Info struct {
	ID      string // the job ID; a fresh one when the job named none
	Kind    string
	Queue   string
	TaskID  string // what asynq's tools call it: <kind>:<id>
	State   State
	NextRun time.Time // of a waiting job: not before; zero otherwise
}

func (m *message) info(t *asynq.TaskInfo) Info { return infoOf(m.kind, m.envelope.JobID, t) }

func infoOf(kind, id string, t *asynq.TaskInfo) Info {
	info := Info{ID: id, Kind: kind, Queue: t.Queue, TaskID: taskID(kind, id), State: stateOf(t.State)}
	if info.State == Waiting {
		info.NextRun = t.NextProcessAt
	}
	return info
}

func stateOf(s asynq.TaskState) State {
	switch s {
	case asynq.TaskStateActive:
		return Running
	case asynq.TaskStateCompleted:
		return Done
	case asynq.TaskStateArchived:
		return Archived
	case asynq.TaskStatePending, asynq.TaskStateScheduled, asynq.TaskStateRetry, asynq.TaskStateAggregating:
	}
	return Waiting // the last of them is in a group, and another producer's
}
