package redlock

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// errorsStayApart says that one call answers all its requests, in their order,
// whatever one of them meets.
func errorsStayApart(t *testing.T, nodes []Node) {
	n := newBareNode(t, nodes[0])
	n.join(t, n.time(t)-60*60*1e6)
	good, bad := newKey(t), newKey(t)
	if err := n.redis.RPush(t.Context(), bad, "x").Err(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.redis.Del(t.Context(), bad) })
	token := n.time(t) &^ 1
	acquire := func(key string) *request {
		return &request{verb: verbAcquire, held: 1, keys: []any{key}, args: []any{"me", token, "1000000"}}
	}
	batch := []*request{
		acquire(bad), acquire(good),
		{verb: verbExtend, held: 1, keys: []any{bad}, args: []any{"me", token, "1000000", 0}},
		{args: []any{"GET", n.marker}},
		{verb: verbSettle, held: 1, keys: []any{bad}, args: []any{"me", token, modeRelease, "free"}},
		{verb: verbSettle, held: 1, keys: []any{good}, args: []any{"me", token, modeRelease, "free"}},
		{verb: verbExtend, held: 1, keys: []any{good}, args: []any{"me", token, "1000000", 0}},
	}
	w := redisWire{client: n.redis}
	cmds, shares := pack(batch, n.marker, n.life.script.sha)
	answers, votes, at := w.pipeline(t.Context(), cmds), make([]vote, len(batch)), 0
	for i, share := range shares {
		(&node{name: "n"}).unpack(batch[at:at+share], answers[i], votes[at:at+share])
		at += share
	}
	var got []string
	for _, v := range votes {
		switch {
		case v.err == nil:
			got = append(got, v.reply.code)
		case answered(v.err) && redis.HasErrorPrefix(v.err, "WRONGTYPE"):
			got = append(got, "WRONGTYPE")
		default:
			got = append(got, v.err.Error())
		}
	}
	want := []string{"WRONGTYPE", codeOK, "WRONGTYPE", codeDone, "WRONGTYPE", codeOK, codeLost}
	if !slices.Equal(got, want) || votes[3].reply.record != n.life.marker || !slices.Equal(shares, []int{3, 1, 3}) {
		t.Errorf("%q in %v, want %q", got, shares, want)
	}
}

func TestACallCarriesSoManyAndNoMore(t *testing.T) {
	t.Parallel()
	batch := make([]*request, 2*maxCall+1)
	for i := range batch {
		batch[i] = &request{verb: verbExtend, held: 1, keys: []any{fmt.Sprint("k", i)}, args: []any{"me", i, 1, 0}}
	}
	cmds, shares := pack(batch, "marker", "sha")
	if !slices.Equal(shares, []int{maxCall, maxCall, 1}) {
		t.Fatal(shares)
	}
	asked := 0
	for _, cmd := range cmds {
		if word(cmd[3]) != "marker" {
			t.Fatal(cmd[:4])
		}
		for _, a := range asksOf(cmd) {
			if a.records[0] != fmt.Sprint("k", asked) || a.args[1] != fmt.Sprint(asked) || a.full {
				t.Errorf("request %d became %+v", asked, a)
			}
			asked++
		}
	}
	if asked != len(batch) {
		t.Errorf("%d requests of %d", asked, len(batch))
	}
}

// A node that answers for more or fewer than it was asked, or in words that are
// none, is not believed.
func TestAnAnswerThatDoesNotFitIsAnError(t *testing.T) {
	t.Parallel()
	batch := []*request{{verb: verbExtend}, {verb: verbExtend}}
	for _, text := range [][]string{{}, {"1"}, {"1", codeOK}, {"1", codeOK, codeOK, codeOK}, {"other"}} {
		votes := make([]vote, len(batch))
		(&node{name: "n"}).unpack(batch, answer{text: text}, votes)
		for _, v := range votes {
			if v.err == nil || answered(v.err) || !strings.Contains(v.err.Error(), "2 requests") {
				t.Errorf("%q: %+v", text, v)
			}
		}
	}
}
