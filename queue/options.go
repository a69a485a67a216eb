package queue

import (
	"cmp"
	"fmt"
	"time"
)

// Option changes how one job is enqueued. Of two equal options the last holds.
// A nil one is refused.
type Option func(*settings)

// On names the queue: 1 to 100 bytes of printable UTF-8 without space, slash or
// brace.
func On(queue string) Option { return func(s *settings) { s.queue = queue } }

// Delay makes the job wait before its first attempt: 0 to 8760 hours, rounded
// up to a whole second of the clock. Workers look each second by default.
func Delay(d time.Duration) Option { return func(s *settings) { s.delay = &d } }

// At is the time of the first attempt, rounded up to a whole second: at most
// 8760 hours ahead. A time in the past is now; the zero time is refused, and so
// is At together with [Delay].
func At(t time.Time) Option { return func(s *settings) { s.at = &t } }

// Deadline is when the job is given up, whatever its state. It must be ahead,
// and behind the first attempt's time. There is none by default.
func Deadline(t time.Time) Option { return func(s *settings) { s.deadline = &t } }

// Timeout bounds one attempt: 1 second to 720 hours.
func Timeout(d time.Duration) Option { return func(s *settings) { s.timeout = d } }

// Retention is how long the entry of a finished job stays and answers for its
// job ID: 1 second to 8760 hours, rounded up to whole seconds. 0 keeps no entry
// of finished jobs, so that only the record of the lock middleware knows them.
func Retention(d time.Duration) Option { return func(s *settings) { s.retention = d } }

// MaxAttempts is how many failed attempts archive the job: 1 to 1000.
func MaxAttempts(n int) Option { return func(s *settings) { s.maxAttempts = n } }

type settings struct {
	queue       string
	timeout     time.Duration
	retention   time.Duration
	maxAttempts int
	delay       *time.Duration // nil, as below, when it was not said
	at          *time.Time
	deadline    *time.Time
}

func (c Config) settings(options []Option) (settings, error) {
	s := settings{queue: c.Queue, timeout: c.Timeout, retention: c.Retention, maxAttempts: c.MaxAttempts}
	for i, o := range options {
		if o == nil {
			return s, refuse(true, fmt.Sprintf("Options[%d]", i), nil, "an option")
		}
		o(&s)
	}
	return s, nil
}

func (s settings) check(now time.Time) error {
	return cmp.Or(
		checkQueue(s.queue),
		checkTimeout(s.timeout),
		checkRetention(s.retention),
		checkMaxAttempts(s.maxAttempts),
		s.checkStart(now),
		s.checkDeadline(now),
	)
}

func (s settings) checkStart(now time.Time) error {
	switch {
	case s.delay != nil && s.at != nil:
		return refuse(true, "At", s.at.Format(time.RFC3339), "At or Delay, not both")
	case s.delay != nil:
		return refuse(*s.delay < 0 || *s.delay > maxSpan, "Delay", *s.delay, "0 to 8760h")
	case s.at != nil:
		return refuse(s.at.IsZero() || s.at.Sub(now) > maxSpan, "At", s.at.Format(time.RFC3339), "a time at most 8760h ahead")
	}
	return nil
}

func (s settings) checkDeadline(now time.Time) error {
	if s.deadline == nil {
		return nil
	}
	start := s.start(now)
	if start.Before(now) {
		start = now
	}
	return refuse(!s.deadline.After(start), "Deadline", s.deadline.Format(time.RFC3339Nano),
		"a time after "+start.Format(time.RFC3339Nano)+", when the job may start")
}

// start is when the job may start: now, or a whole second, never before the
// time that was asked for.
func (s settings) start(now time.Time) time.Time {
	switch {
	case s.delay != nil && *s.delay > 0:
		return nextWholeSecond(now.Add(*s.delay))
	case s.at != nil:
		return nextWholeSecond(*s.at)
	}
	return now
}
