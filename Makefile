# SPDX-License-Identifier: Apache-2.0

# Everything is built by Go from modules: go.mod pins the libraries, tools.mod the generators, lint.mod the linter.

GO ?= go
TOOL = $(GO) tool -modfile=tools.mod
STAGE = @sh test/build/stage.sh
# What has tests or programs of its own; each is a module. Go does not see that files outside of a module changed: -count=1.
MODULES = . test/cluster test/chart
# Each package of test/cluster writes what its control plane cost.
MEASURES = $(or $(TMPDIR),/tmp)/fleetwright-cluster-measures
VERSION = $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

.PHONY: help
help: ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

.PHONY: build
build: ## static programs in bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.linked=$(VERSION)' -o bin/ ./cmd/...

.PHONY: generate
generate: ## deepcopy, CRDs, schemas for editors and kustomize, docs/api.md, all from api/; roles from the programs; chart, dist
	$(TOOL) controller-gen object:headerFile=test/build/boilerplate.go.txt crd:headerFile=test/build/boilerplate.yaml.txt \
		paths=./api/... output:crd:dir=config/crd
	sh test/build/quantities.sh config/crd/celld.eric.dev_*.yaml
	$(TOOL) controller-gen rbac:roleName=fleetwright-healer,headerFile=test/build/boilerplate.yaml.txt \
		paths=./healer/... output:rbac:dir=config/healer
	$(TOOL) controller-gen rbac:roleName=fleetwright-webhook,fileName=rbac.yaml,headerFile=test/build/boilerplate.yaml.txt \
		paths=./webhook/... output:rbac:dir=config/webhook
	$(GO) run ./config/webhook/generate config/webhook
	$(GO) run ./test/build/schema config
	$(TOOL) crd-ref-docs --log-level WARN --max-depth 15 --renderer markdown --source-path api \
		--config test/build/docs/config.yaml --templates-dir test/build/docs --output-path docs/api.md
	cd test/chart && $(GO) run ./cmd/generate ../..

.PHONY: verify
verify: ## generated files, gofmt, go vet, go.mod, licence lines, the Go API since the last tag
	$(STAGE) verify sh test/build/verify.sh $(MODULES)

.PHONY: lint
lint: ## golangci-lint, which also checks the import rules
	$(STAGE) "lint" $(GO) tool -modfile=lint.mod golangci-lint run ./...
	$(STAGE) "lint borders" sh test/build/borders.sh
	$(STAGE) "lint test/cluster" sh -c 'cd test/cluster && $(GO) tool -modfile=../../lint.mod golangci-lint run ./...'
	$(STAGE) "lint test/chart" sh -c 'cd test/chart && $(GO) tool -modfile=../../lint.mod golangci-lint run ./...'

.PHONY: cluster-bin
cluster-bin: ## the control plane that test/cluster runs; the first time takes half an hour
	$(STAGE) cluster-bin sh -c 'cd test/cluster && $(GO) run ./cmd/cluster-bin'

.PHONY: test
test: verify lint cluster-bin ## everything that CI runs
	$(STAGE) "test" $(GO) test -timeout 15m ./...
	$(STAGE) "test test/chart" sh -c 'cd test/chart && $(GO) test -count=1 -timeout 15m ./...'
	@rm -f $(MEASURES)
	$(STAGE) "test test/cluster" sh -c 'cd test/cluster && FLEETWRIGHT_CLUSTER_MEASURES=$(MEASURES) $(GO) test -count=1 -p 1 -timeout 20m ./...'
	@cat $(MEASURES) && rm -f $(MEASURES)

.PHONY: demo
demo: ## a fleet's life on a control plane of this machine, in four minutes; QUICK=1: in one; KEEP=1: it stays until Ctrl-C
	@cd test/cluster && $(GO) run ./cmd/demo $(if $(QUICK),--quick) $(if $(KEEP),--keep)

.PHONY: demo-recording
demo-recording: ## docs/demo.svg: a demo that really ran
	cd test/cluster && recording=$$(mktemp) && trap 'rm -f "$$recording"' EXIT && \
		$(GO) run ./cmd/demo --record "$$recording" && $(GO) run ./cmd/demo-svg "$$recording" ../../docs/demo.svg

.PHONY: bench
bench: ## what the command costs, beside helm and kustomize
	$(GO) run ./test/bench

IMAGE ?= ghcr.io/fleetwright/fleetwright
# The same commit makes the same image: times in it are those of the commit.
EPOCH = $(shell git log -1 --format=%ct)

.PHONY: image
image: ## the image with the three programs, by buildah or docker
	@if command -v buildah >/dev/null; then \
		buildah build --timestamp $(EPOCH) --build-arg SOURCE_DATE_EPOCH=$(EPOCH) --build-arg VERSION=$(VERSION) --tag $(IMAGE):$(VERSION) .; \
	elif command -v docker >/dev/null; then \
		docker build --build-arg SOURCE_DATE_EPOCH=$(EPOCH) --build-arg VERSION=$(VERSION) --tag $(IMAGE):$(VERSION) .; \
	else echo 'make image needs buildah or docker' >&2; exit 1; fi
