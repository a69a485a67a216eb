// Package servers runs real redis-server and PostgreSQL processes for tests:
// on loopback ports that the system picks, in folders the caller gives, ended
// by process ID.
//
// Tests take [RedisNodes] and [Postgres], which clean up after themselves and
// fail the test, never skip it, with the line that installs what is missing.
// A TestMain or a command takes [StartRedis] and [StartPostgres], which return
// errors.
//
// What is done to a server: [Redis] is killed, wiped, paused, and its clock
// shifted; a [Proxy] before it loses what is sent; [DeadAddr] was never there.
//
// On Linux the servers end with the process that started them, even when that
// is killed; elsewhere they survive a kill -9 of it. The package needs Unix
// signals.
package servers
