package embedded_test

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast/embedded"
)

// One of three lock nodes is down; a majority still grants.
func Example() {
	fleet, err := embedded.Start(3)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer fleet.Close()
	fleet.StopNode(2)

	granted := 0
	for _, url := range fleet.Locks() {
		options, err := redis.ParseURL(url)
		if err != nil {
			fmt.Println(err)
			return
		}
		options.MaxRetries, options.DialerRetries = -1, 1 // a node that is down is a plain no
		node := redis.NewClient(options)
		if ok, _ := node.SetNX(context.Background(), "report/daily", "me", time.Second).Result(); ok {
			granted++
		}
		_ = node.Close()
	}
	fmt.Printf("%d of %d\n", granted, len(fleet.Locks()))
	// Output: 2 of 3
}
