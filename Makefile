# `make` lists the targets. Nothing but Go and make needs to be there: on Debian,
# what a target needs beyond them it installs, if it runs as root or with sudo.

.DEFAULT_GOAL := help
.PHONY: help build test race test-slow sim example readme fmt fmt-check vet lint tidy-check portable tools-test bench-test bench-locks bench-leases cover clean

TOOL := go tool -modfile=$(CURDIR)/tools/go.mod

# What runs the tests, and further flags for it.
GOTEST    ?= go test
TESTFLAGS ?=

# The packages that users import.
LIBRARY = $(shell go list ./... | grep -vE '/(cmd|examples|internal)(/|$$)')

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' Makefile

build: ## compile everything
	go build ./...

# -count=1: go's cache of results knows nothing of servers and clocks.
test: ## run the tests, on embedded and on real servers
	@build/install gcc redis-server initdb
	$(GOTEST) -count=1 -timeout=5m $(TESTFLAGS) ./...

race: ## run the tests under the race detector, in a random order
	@build/install gcc redis-server initdb
	CGO_ENABLED=1 $(GOTEST) -race -shuffle=on -count=1 -timeout=10m $(TESTFLAGS) ./...

# RACE=1 runs the slow set under the race detector.
test-slow: ## run the tests that take minutes: long histories, many races, many leases
	@build/install gcc redis-server
	$(if $(RACE),CGO_ENABLED=1) $(GOTEST) $(if $(RACE),-race) -tags=slow -run='^TestSlow' -count=1 -timeout=15m -v $(TESTFLAGS) ./redlock

sim: ## simulate the locks: SEEDS=n schedules, or SEED=x and what happens in it
	@SEEDS="$(SEEDS)" SEED="$(SEED)" build/sim

example: ## run examples/payments, safe and unsafe, and check its provider's book
	@build/example

readme: ## run every command that the README shows
	@build/readme

fmt: ## format the code
	$(TOOL) gofumpt -w .

fmt-check: ## fail if the code is not formatted
	@files=$$($(TOOL) gofumpt -l .) && if [ -n "$$files" ]; then echo "run 'make fmt' for:" $$files; exit 1; fi

vet: ## go vet
	go vet ./...
	go vet -tags slow ./redlock
	go -C tools vet ./...
	go -C bench vet ./...

lint: ## golangci-lint, which takes minutes to compile the first time
	$(TOOL) golangci-lint run --allow-parallel-runners ./...
	cd tools && $(TOOL) golangci-lint run --allow-parallel-runners ./...
	cd bench && $(TOOL) golangci-lint run --allow-parallel-runners ./...

tidy-check: ## fail if go.mod is not tidy or a module was changed
	go mod tidy -diff
	go -C bench mod tidy -diff
	go mod verify

portable: ## compile the library for macOS and Windows
	GOOS=darwin go build $(LIBRARY)
	GOOS=windows go build $(LIBRARY)

tools-test: ## test that the linter holds the floors and that deploy/ is valid
	cd tools && $(GOTEST) -count=1 $(TESTFLAGS) ./...

bench-test: ## test the benchmarks, with a second's play of every lock
	@build/install redis-server
	cd bench && $(GOTEST) -count=1 -timeout=3m $(TESTFLAGS) ./...

# JSON=FILE writes the figures to a file too; BENCHFLAGS=-help tells of further flags.
bench-locks: ## compare the lock with redsync, redislock and rueidislock, in two minutes
	@build/install redis-server
	go -C bench run ./locks $(if $(JSON),-json $(abspath $(JSON))) $(BENCHFLAGS)

bench-leases: ## hold 20,000 leases for 25 s; fail if one is lost or costs a goroutine
	@build/install redis-server
	go -C bench run ./leases $(BENCHFLAGS)

cover: ## write cover.out, and print the coverage of each function
	@build/install gcc redis-server initdb
	go test -count=1 -timeout=5m -coverpkg=./... -coverprofile=cover.out ./...
	go tool cover -func=cover.out

clean: ## remove what the targets above have written
	rm -rf bin cover.out
