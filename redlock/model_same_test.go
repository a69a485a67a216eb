package redlock

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const readClock = "redis.call('TIME')"

// onTestClock makes a script read the time from a key, in microseconds.
func onTestClock(text, key string) script {
	return scriptOf(strings.ReplaceAll(text, readClock, testClock(key)))
}

func testClock(key string) string { return "{0, redis.call('GET', '" + key + "')}" }

// What runs under the test clock is what runs elsewhere, but for the clock.
func TestOnlyTheClockIsReplaced(t *testing.T) {
	l, err := newLife("run1:1:"+configText(sequenceConfigs[0]), sequenceConfigs[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{l.script.text, joinText} {
		changed := onTestClock(text, "clock").text
		if strings.Count(text, readClock) != 1 || strings.Contains(text, "@") && text != joinText ||
			strings.Replace(changed, testClock("clock"), readClock, 1) != text {
			t.Errorf("more than the clock differs in %s", changed)
		}
	}
}

// everyCode is all that a script may answer.
var everyCode = []string{
	codeOK, codeHeld, codeDone, codeLow, codeFuture, codeLost, codeGone, codeRepaired, codeStale, codeNone,
	codeRejoin, codeQuarantined, codeJoined, codeFresh, codeConfig, codeDraining,
}

// count adds what the steps were answered.
func (s *sequence) count(codes map[string]int) {
	for _, st := range s.steps {
		if st.asked == 0 && len(st.said.text) > 1 || slices.Equal(st.said.text, []string{codeRejoin}) { // no SHA
			codes[st.said.text[0]]++
		} else if st.asked > 0 && st.said.err == nil {
			for _, text := range st.said.text[1:] {
				codes[readReply(text).code]++
			}
		}
	}
}

// What random histories never come to, comparing them does not try.
func TestRandomHistoriesComeToEveryAnswer(t *testing.T) {
	t.Parallel()
	random, codes := rand.New(rand.NewPCG(1, 2)), map[string]int{}
	for range 2000 {
		newSequence("", "", randomBytes(random, 160)).count(codes)
	}
	for _, code := range everyCode {
		if codes[code] < 50 {
			t.Errorf("%s %d times in %v", code, codes[code], codes)
		}
	}
}

func randomBytes(random *rand.Rand, n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}

// TestTheModelAnswersAsTheScriptsDo plays random histories of one node to the
// model and to nodes: every answer, all that is kept and all that is published
// must be the same.
func TestTheModelAnswersAsTheScriptsDo(t *testing.T) {
	for kind, c := range map[string]struct {
		start     func(testing.TB, int) []Node
		sequences int
	}{"real": {realNodes, 2000}, "embedded": {embeddedNodes, 150}} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			node, random := newSameNode(t, c.start(t, 1)[0]), rand.New(rand.NewPCG(seed, 0))
			for done := 0; done < c.sequences; {
				var chunk []*sequence
				for range 50 {
					chunk = append(chunk, newSequence(fmt.Sprintf("same:%d:", done), "same:clock", randomBytes(random, 160)))
					done++
				}
				if err := node.play(t.Context(), chunk); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

// FuzzModel lets the fuzzer look for a history that the model answers in another
// way than a Redis with the scripts.
func FuzzModel(f *testing.F) {
	node := newSameNode(f, realNodes(f, 1)[0])
	for i := range 8 {
		f.Add(randomBytes(rand.New(rand.NewPCG(uint64(i), 1)), 400))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := node.play(t.Context(), []*sequence{newSequence("same:f:", "same:fclock", data)}); err != nil {
			t.Fatal(err)
		}
	})
}
