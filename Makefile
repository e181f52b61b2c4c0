# `make check` is what CI runs and nothing else. Tools are pinned and built from
# source into .bin/, never taken from the machine and never listed in go.mod.

GO            ?= go
BIN           := $(CURDIR)/.bin
GOLANGCI      := v2.15.0
DEADCODE      := v0.52.0
GOLANGCI_BIN  := $(BIN)/golangci-lint-$(GOLANGCI)
DEADCODE_BIN  := $(BIN)/deadcode-$(DEADCODE)

# Time for each fuzz target; nightly runs use the default.
FUZZTIME      ?= 10m
# Which benchmarks `make bench` runs.
BENCH         ?= .

export GOTOOLCHAIN = local

.PHONY: all
all: build

# The product needs no C compiler; -trimpath keeps machine paths out of it.
.PHONY: build
build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/tote ./cmd/tote

.PHONY: test
test:
	$(GO) test ./...

.PHONY: check
check: lint vet race deadcode tidy

.PHONY: tools
tools: $(GOLANGCI_BIN) $(DEADCODE_BIN)

$(GOLANGCI_BIN):
	$(call install,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI),golangci-lint)

$(DEADCODE_BIN):
	$(call install,golang.org/x/tools/cmd/deadcode@$(DEADCODE),deadcode)

# install builds $(1), whose binary is called $(2), under the versioned name of
# the target, so that a raised version is built and an old one is never used.
define install
	@mkdir -p $(BIN)
	GOBIN=$(BIN) GOFLAGS= CGO_ENABLED=0 $(GO) install $(1)
	@mv $(BIN)/$(2) $@
endef

.PHONY: lint
lint: $(GOLANGCI_BIN)
	$(GOLANGCI_BIN) config verify
	$(GOLANGCI_BIN) fmt --diff
	$(GOLANGCI_BIN) run

# vet type-checks the tests too, so a file that does not build elsewhere is found here.
.PHONY: vet
vet:
	$(GO) vet ./...
	CGO_ENABLED=0 GOOS=windows $(GO) vet ./...
	CGO_ENABLED=0 GOOS=darwin $(GO) vet ./...

# The race detector makes tests many times slower, so it runs where goroutines meet,
# and of the tests over the whole program those in which turns, jobs and servers run
# side by side. All tests run whole in `go test ./...`.
RACED  := agent app checkpoint delegate front/... mcp provider provider/cli store tool tool/shell
BESIDE := ^Test(Scripts|Jobs|Delegation|LadderHangs|PlanMode)
.PHONY: race
race:
	CGO_ENABLED=1 $(GO) test -race -short -shuffle=on $(RACED:%=./internal/%)
	CGO_ENABLED=1 $(GO) test -race -short -shuffle=on -run '$(BESIDE)' ./cmd/tote ./internal/conformance

# The search starts at the programs, not at the tests: code that only tests call
# is dead. Output of any kind fails.
# The members of closed sets are listed for the tests that walk them.
LISTED := unreachable func: (Dispositions|Reasons|Failures|Modes)$$

.PHONY: deadcode
deadcode: $(DEADCODE_BIN)
	@out=$$($(DEADCODE_BIN) ./cmd/... ./internal/profile/gen); status=$$?; \
	out=$$(printf '%s\n' "$$out" | grep -Ev '$(LISTED)' || true); \
	if [ $$status -ne 0 ] || [ -n "$$out" ]; then echo "$$out"; echo "deadcode: unreachable code (or the tool failed)"; exit 1; fi

.PHONY: tidy
tidy:
	$(GO) mod tidy -diff

.PHONY: fmt
fmt: $(GOLANGCI_BIN)
	$(GOLANGCI_BIN) fmt

# go test runs one fuzz target of one package at a time.
.PHONY: fuzz
fuzz:
	@set -e; for pkg in $$($(GO) list ./...); do \
		listed=$$($(GO) test -list '^Fuzz' $$pkg); \
		for t in $$(echo "$$listed" | grep '^Fuzz' || true); do \
			echo "fuzz $$pkg $$t $(FUZZTIME)"; \
			$(GO) test -run '^$$' -fuzz "^$$t\$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

.PHONY: bench
bench:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

# Drives the built program as editors do.
.PHONY: e2e
e2e: build
	cd e2e/acp && npm ci --no-audit --no-fund && TOTE_BIN=$(CURDIR)/bin/tote node run.mjs

# Measures the built program as an editor finds it: starting, memory, prompts.
.PHONY: measure-acp
measure-acp: build
	cd e2e/acp && npm ci --no-audit --no-fund && TOTE_BIN=$(CURDIR)/bin/tote GO=$(GO) node measure.mjs

# Holds the requests and answers of every wire against the vendors' own SDKs, in a
# module of its own.
# What is only compared need not be fast, so the SDKs are compiled without
# optimisation, which halves the time.
QUICK := -N -l -dwarf=false
.PHONY: sdk
sdk:
	cd e2e/sdk && GOGC=400 $(GO) test -vet=off -ldflags='-s -w' -gcflags='github.com/...=$(QUICK)' \
		-gcflags='google.golang.org/...=$(QUICK)' -gcflags='cloud.google.com/...=$(QUICK)' ./...

# Speaks to MCP servers that others wrote, in a module of its own.
.PHONY: mcp
mcp:
	cd e2e/mcp && ./run.sh

# Rebuilds the model catalogue from its pinned source and prints what changed.
.PHONY: catalogue
catalogue:
	$(GO) generate ./internal/profile

.PHONY: clean
clean:
	rm -rf bin .bin
