package input

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

func TestBothFormatsReadTheSamePayments(t *testing.T) {
	t.Parallel()
	want := []Payment{{"p1", "a1", 500, "EUR"}, {"p2", "a2", 1, "JPY"}}
	for name, text := range map[string]string{
		"x.jsonl":  `{"id":"p1","account":"a1","amount_cents":500,"currency":"EUR"}` + "\r\n\n" + `{"note":1,"currency":"JPY","amount_cents":1,"account":"a2","id":"p2"}`,
		"x.csv":    "id,account,amount_cents,currency\np1,a1,500,EUR\np2,a2,1,JPY\n",
		"-":        "\xef\xbb\xbfcurrency,note,amount_cents,account,id\r\nEUR,,500,a1,p1\r\nJPY,x, 1 ,a2,p2\r\n",
		"x.ndjson": "\n" + `{"id":"p1","account":"a1","amount_cents":500,"currency":"EUR"}` + "\n" + `{"id":"p2","account":"a2","amount_cents":1,"currency":"JPY"}`,
	} {
		got, err := Read(name, strings.NewReader(text))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, %v; want %v", name, got, err, want)
		}
	}
}

func TestABadLineIsReportedWithFileLineFieldAndReason(t *testing.T) {
	t.Parallel()
	const good = `{"id":"p1","account":"a1","amount_cents":500,"currency":"EUR"}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"f.jsonl", good + "{", "f.jsonl:2: line: not a JSON object: unexpected end of JSON input"},
		{"f.jsonl", good + "[1]", "f.jsonl:2: line: not a JSON object: want one with id, account, amount_cents and currency"},
		{"f.jsonl", good + "null", "f.jsonl:2: line: not a JSON object: want one with id, account, amount_cents and currency"},
		{"f.jsonl", good + good[:len(good)-1] + " x", "f.jsonl:2: line: not a JSON object: invalid character 'x' after top-level value"},
		{"f.jsonl", "\xff", "f.jsonl:1: line: not UTF-8"},
		{"f.jsonl", good + strings.Repeat("x", maxLine+1), "f.jsonl:2: line: longer than 1 MiB"},
		{"f.jsonl", `{"account":"a1","amount_cents":500,"currency":"EUR"}`, "f.jsonl:1: id: missing"},
		{"f.jsonl", `{"id":7,"account":"a1","amount_cents":500,"currency":"EUR"}`, `f.jsonl:1: id: 7 is not a string`},
		{"f.jsonl", `{"id":null,"account":"a1","amount_cents":500,"currency":"EUR"}`, `f.jsonl:1: id: null is not a string`},
		{"f.jsonl", `{"id":"p/1","account":"a1","amount_cents":500,"currency":"EUR"}`, `f.jsonl:1: id: "p/1" is not 1 to 200 printable characters without space or slash`},
		{"f.jsonl", `{"id":"p1","account":"","amount_cents":500,"currency":"EUR"}`, `f.jsonl:1: account: "" is not 1 to 200 printable characters without space or slash`},
		{"f.jsonl", `{"id":"p1","account":"a1","amount_cents":"500","currency":"EUR"}`, `f.jsonl:1: amount_cents: "500" is not a number`},
		{"f.jsonl", `{"id":"p1","account":"a1","amount_cents":5.5,"currency":"EUR"}`, `f.jsonl:1: amount_cents: "5.5" is not a whole number of cents from 1 to 1000000000000`},
		{"f.jsonl", `{"id":"p1","account":"a1","amount_cents":0,"currency":"EUR"}`, `f.jsonl:1: amount_cents: "0" is not a whole number of cents from 1 to 1000000000000`},
		{"f.jsonl", `{"id":"p1","account":"a1","amount_cents":1000000000001,"currency":"EUR"}`, `f.jsonl:1: amount_cents: "1000000000001" is not a whole number of cents from 1 to 1000000000000`},
		{"f.jsonl", `{"id":"p1","account":"a1","amount_cents":5,"currency":"eur"}`, `f.jsonl:1: currency: "eur" is not three capital letters`},
		{"f.jsonl", good + strings.Replace(good, "500", "501", 1), `f.jsonl:2: id: "p1" is in line 1 too, with another amount_cents`},
		{"f.csv", "id,account,amount_cents\np1,a1,5\n", "f.csv:1: currency: no such column in the header; want id,account,amount_cents,currency"},
		{"f.csv", "id,account,amount_cents,currency\np1,a1,5\n", "f.csv:2: line: 3 fields where the header has 4"},
		{"f.csv", "id,account,amount_cents,currency\np1,a\"1,5,EUR\np2,a1,x,EUR\n", "f.csv:2: line: not CSV: bare \" in non-quoted-field\nf.csv:3: amount_cents: \"x\" is not a whole number of cents from 1 to 1000000000000"},
		{"f.csv", "id,account,amount_cents,currency\np\xff,a1,5,EUR\n", "f.csv:2: id: not UTF-8"},
		{"-", "id;account\n", "-:1: id: no such column in the header; want id,account,amount_cents,currency"},
	} {
		_, err := Read(c.name, strings.NewReader(c.text))
		if _, ok := errors.AsType[*BadLinesError](err); !ok || err.Error() != c.want {
			t.Errorf("%s %.60q:\n got %v\nwant %s", c.name, c.text, err, c.want)
		}
	}
}

func TestTwentyBadLinesAreShownAndTheRestCounted(t *testing.T) {
	t.Parallel()
	_, err := Read("f.jsonl", strings.NewReader(strings.Repeat("{}\n", 33)))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 21 || lines[19] != "f.jsonl:20: id: missing" || lines[20] != "and 13 more bad lines" {
		t.Fatalf("got\n%v", err)
	}
}

func TestInputWithoutPaymentsIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n \n", "id,account,amount_cents,currency\n"} {
		if _, err := Read("-", strings.NewReader(text)); err == nil || err.Error() != "-: no payments in it" {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestALineThatRepeatsAnEarlierOneIsKept(t *testing.T) {
	t.Parallel()
	const line = `{"id":"p1","account":"a1","amount_cents":500,"currency":"EUR"}` + "\n"
	got, err := Read("-", strings.NewReader(line+line))
	if err != nil || len(got) != 2 {
		t.Fatalf("got %v, %v", got, err)
	}
}

func TestAReadThatFailsIsNotABadLine(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"f.jsonl", "f.csv"} {
		_, err := Read(name, iotest.ErrReader(os.ErrClosed))
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestTheFileOfTheExampleHasItsHotAccount(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../testdata/payments.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	payments, err := Read(file.Name(), file)
	if err != nil {
		t.Fatal(err)
	}
	accounts, hottest := make(map[string]int), 0
	for _, p := range payments {
		accounts[p.Account]++
		hottest = max(hottest, accounts[p.Account])
	}
	if len(payments) < 600 || len(accounts) != 50 || hottest != 60 {
		t.Fatalf("%d payments, %d accounts, %d on the hottest", len(payments), len(accounts), hottest)
	}
}
