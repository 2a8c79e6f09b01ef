GO          ?= go
PREFIX      ?= $(HOME)/.local
UNITDIR     ?= $(PREFIX)/share/systemd/user
FUZZTIME    ?= 30s
EVERY       ?= 1
FOR         ?= 1m
ARCHS       ?= arm64 arm 386 riscv64
PACKAGES    ?= ./...
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
RECORDINGS  := $(wildcard internal/hook/testdata/captures/*.jsonl)
FLAGS       := -trimpath -ldflags '-s -w' -ldflags 'tongs-agents/cmd/tongs-agents-hook=-s -w -E main.entry'

export CGO_ENABLED = 0
export DESTDIR PREFIX UNITDIR # for the shell: as text, whatever is in them

.PHONY: all build run test stress e2e faults powercut hostile homes lint cross bench picture fuzz install uninstall dist help

all: lint test build ## Lint, test, build

build: ## Two static programs in bin/
	$(GO) build $(FLAGS) -o bin/ ./cmd/...

run: build ## Play the recorded sessions of real agents and list them
	$(GO) run ./internal/replay -bin bin $(RECORDINGS)

test: ## All tests, with the race detector
	CGO_ENABLED=1 $(GO) test -race ./...

stress: build ## Many processes on one session, then 1,000 sessions FOR 1m, then recorded histories
	$(GO) run ./internal/stress -bin bin -for $(FOR)

e2e: build ## Our hooks on real agents from npm, all or AGENTS="claude codex": docs/testing.md
	$(GO) run ./internal/e2e -bin bin $(if $(STEPS),-steps $(STEPS)) $(AGENTS)

faults: build ## Kill, and let fail, every system call of the programs
	$(GO) run ./internal/faults -bin bin -every $(EVERY)

powercut: build ## Cut the power of ext4, xfs and btrfs; needs root
	$(GO) run ./internal/powercut -bin bin

hostile: build ## Texts, stores and processes as an attacker would have them; needs root
	$(GO) run ./internal/hostile -bin bin -part texts,stores,processes -every $(EVERY)

homes: build ## File systems, users, machines and containers that share a home; needs root
	$(GO) run ./internal/hostile -bin bin -part homes

lint: ## gofmt, vet, staticcheck, go.mod
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet -tags share ./...
	$(GO) run $(STATICCHECK) -tags share ./...
	$(GO) mod tidy -diff

cross: ## vet for the other architectures: their system call tables differ
	for arch in $(ARCHS); do echo $$arch; GOARCH=$$arch $(GO) vet $(PACKAGES) || exit 1; done

bench: build ## Whole processes as ratios, then the parts
	$(GO) run ./internal/bench -bin bin
	$(GO) test -run '^$$' -bench . -benchtime 0.3s ./...

picture: build ## docs/monitor.svg, of sessions that were never held
	$(GO) run ./internal/screenshot -bin bin >bin/monitor.svg && mv bin/monitor.svg docs/

fuzz: ## Each fuzz target for FUZZTIME
	for target in $$($(GO) test ./fuzz -list '^Fuzz' | grep ^Fuzz); do \
		$(GO) test ./fuzz -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 200x || exit 1; \
	done

install: build ## Programs, manual pages, completions, systemd units into PREFIX, ~/.local if not said
	@case "$$PREFIX" in [!/]*|*[\"\'\\]*|'') echo "PREFIX must be an absolute path without quotes and backslashes" >&2; exit 1;; esac
	install -d "$$DESTDIR$$PREFIX/bin" "$$DESTDIR$$UNITDIR"
	install -m 755 bin/tongs-agents bin/tongs-agents-hook "$$DESTDIR$$PREFIX/bin/"
	GOOS= GOARCH= $(GO) run -trimpath -tags share ./cmd/tongs-agents "$$DESTDIR$$PREFIX/share"
	install -m 644 systemd/tongs-agents-cleanup.service systemd/tongs-agents-cleanup.timer "$$DESTDIR$$UNITDIR/"
	prefix=$$(printf %s "$$PREFIX" | sed 's/%/%%/g; s/[&|]/\\&/g') && \
		sed -i "s|^ExecStart=\"%h/.local/|ExecStart=\"$$prefix/|" "$$DESTDIR$$UNITDIR/tongs-agents-cleanup.service"

uninstall: ## Remove what install put there
	rm -f "$$DESTDIR$$PREFIX/bin/tongs-agents" "$$DESTDIR$$PREFIX/bin/tongs-agents-hook"
	rm -f "$$DESTDIR$$PREFIX/share/man/man1/tongs-agents.1" "$$DESTDIR$$PREFIX/share/man/man1"/tongs-agents-*.1
	rm -f "$$DESTDIR$$PREFIX/share/bash-completion/completions/tongs-agents" \
		"$$DESTDIR$$PREFIX/share/zsh/site-functions/_tongs-agents" "$$DESTDIR$$PREFIX/share/fish/vendor_completions.d/tongs-agents.fish"
	rm -f "$$DESTDIR$$UNITDIR/tongs-agents-cleanup.service" "$$DESTDIR$$UNITDIR/tongs-agents-cleanup.timer"

dist: ## Reproducible archives of VERSION and their checksums in dist/
	GOOS= GOARCH= $(GO) run ./internal/dist

help: ## This list
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "%-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
