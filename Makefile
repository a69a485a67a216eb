# `make` lists the targets. Nothing but Go and make needs to be there: on Debian,
# what a target needs beyond them it installs, if it runs as root or with sudo.

.DEFAULT_GOAL := help
.PHONY: help build test race sim example readme fmt fmt-check vet lint tidy-check portable tools-test cover clean

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
	@build/install redis-server initdb
	$(GOTEST) -count=1 -timeout=5m $(TESTFLAGS) ./...

race: ## run the tests under the race detector, in a random order
	@build/install gcc redis-server initdb
	CGO_ENABLED=1 $(GOTEST) -race -shuffle=on -count=1 -timeout=10m $(TESTFLAGS) ./...

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
	go -C tools vet ./...

lint: ## golangci-lint, which takes minutes to compile the first time
	$(TOOL) golangci-lint run --allow-parallel-runners ./...
	cd tools && $(TOOL) golangci-lint run --allow-parallel-runners ./...

tidy-check: ## fail if go.mod is not tidy or a module was changed
	go mod tidy -diff
	go mod verify

portable: ## compile the library for macOS and Windows
	GOOS=darwin go build $(LIBRARY)
	GOOS=windows go build $(LIBRARY)

tools-test: ## test that the linter holds the floors and that deploy/ is valid
	cd tools && $(GOTEST) -count=1 $(TESTFLAGS) ./...

cover: ## write cover.out, and print the coverage of each function
	@build/install redis-server initdb
	go test -count=1 -timeout=5m -coverpkg=./... -coverprofile=cover.out ./...
	go tool cover -func=cover.out

clean: ## remove what the targets above have written
	rm -rf bin cover.out
