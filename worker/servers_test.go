package worker_test

import (
	"testing"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast/embedded"
	"github.com/holdfastjobs/holdfast/internal/servers"
)

func embeddedRedis(t *testing.T) asynq.RedisConnOpt {
	t.Helper()
	fleet, err := embedded.Start(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fleet.Close() })
	return at(t, fleet.Queue())
}

func realRedis(t *testing.T) asynq.RedisConnOpt {
	t.Helper()
	return at(t, servers.RedisNodes(t, 1)[0].URL())
}

func at(t *testing.T, url string) asynq.RedisConnOpt {
	t.Helper()
	opt, err := asynq.ParseRedisURI(url)
	if err != nil {
		t.Fatal(err)
	}
	return opt
}
