package demo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// queueRedis reads -redis. Its error leaves out the text: it may hold a password.
func queueRedis(text string) (asynq.RedisConnOpt, error) {
	opt, err := asynq.ParseRedisURI(text)
	if err != nil {
		return nil, errors.New("-redis: not a redis:// URL; want one such as redis://localhost:6379")
	}
	return opt, nil
}

// lockNodes reads -locks. A node given twice would have two votes, and is refused.
func lockNodes(texts []string) ([]*redis.Options, error) {
	var nodes []*redis.Options
	for i, text := range texts {
		node, err := redis.ParseURL(withoutName(text))
		if err != nil {
			return nil, fmt.Errorf("-locks: number %d is not a redis:// URL; want one such as redis://localhost:6379", i+1)
		}
		if first := slices.IndexFunc(nodes, func(o *redis.Options) bool { return o.Addr == node.Addr }); first >= 0 {
			return nil, fmt.Errorf("-locks: numbers %d and %d are one node, %s; want independent ones", first+1, i+1, node.Addr)
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// withoutName drops the name that a lock node's URL may be given, as in a=redis://….
func withoutName(text string) string {
	if before, after, named := strings.Cut(text, "="); named && !strings.Contains(before, "://") {
		return after
	}
	return text
}
