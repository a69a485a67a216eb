package queue

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
)

type panicking struct{ charge }

func (panicking) Kind() string { panic("no kind today") }

func bulkOutcomes(t *testing.T, redis asynq.RedisClientOpt) {
	b := setup(t, redis, func(c *Config) { c.Parallel = 4 })
	b.must(t, charge{"ch_3", 0})
	items := make([]Item, 60)
	for i := range items {
		items[i] = Item{Args: charge{ID: "ch_" + strconv.Itoa(i)}}
	}
	items[10].Args = nil
	items[20].Options = []Option{Timeout(time.Millisecond)}
	items[30].Args = panicking{}
	for i, o := range b.EnqueueAll(t.Context(), items) {
		_, refused := errors.AsType[*holdfast.FieldError](o.Err)
		var ok bool
		switch i {
		case 3:
			ok = errors.Is(o.Err, ErrDuplicate)
		case 10, 20:
			ok = refused
		case 30:
			ok = o.Err != nil && strings.Contains(o.Err.Error(), "queue: enqueue queue.panicking: panic: no kind today")
		default:
			ok = o.Err == nil && o.Info.ID == "ch_"+strconv.Itoa(i)
		}
		if !ok {
			t.Errorf("item %d: %+v", i, o)
		}
	}
	queued, err := b.inspector.GetQueueInfo(b.queue)
	if err != nil || queued.Pending != 57 {
		t.Errorf("%+v, %v: want 57 pending", queued, err)
	}
}

func TestBulkOfNothingIsNothing(t *testing.T) {
	b := setup(t, inProcess(t))
	if o := b.EnqueueAll(t.Context(), nil); len(o) != 0 {
		t.Errorf("got %v", o)
	}
}

func TestWhenItsContextEndsTheRestOfABulkFailsWithItsCause(t *testing.T) {
	b := setup(t, inProcess(t))
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the producer goes home")
	cancel(why)
	for i, o := range b.EnqueueAll(ctx, make20()) {
		if !errors.Is(o.Err, why) {
			t.Errorf("item %d: %v", i, o.Err)
		}
	}
}

func make20() []Item {
	items := make([]Item, 20)
	for i := range items {
		items[i] = Item{Args: charge{}}
	}
	return items
}
