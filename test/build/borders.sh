#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# Shows that each border of .golangci.yml can fail: a package at the path of ours imports what it must not, and the linter says so
# of every import. An edge may import what a pure package may not. Run from the root of the repository, as `make lint` does.
set -eu
us=github.com/fleetwright/fleetwright
pure='os net/http log math/rand syscall'

linter=$(go tool -modfile=lint.mod -n golangci-lint)
config=$PWD/.golangci.yml
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# planted PACKAGE IMPORT... lints a package that imports these, and prints how many of the imports the linter refuses.
planted() {
	package=$1
	shift
	rm -rf "$copy/module"
	mkdir -p "$copy/module/$package"
	cd "$copy/module"
	cp "$config" .golangci.yml
	printf 'module %s\n\ngo 1.26\n' "$us" >go.mod
	{
		echo "package planted"
		for path in "$@"; do echo "import _ \"$path\""; done
	} >"$package/planted.go"
	for path in "$@"; do
		case $path in
		"$us"/*)
			mkdir -p "${path#"$us"/}"
			[ -e "${path#"$us"/}/planted.go" ] || echo "package empty" >"${path#"$us"/}/empty.go"
			;;
		esac
	done
	"$linter" run --enable-only depguard "./$package" >output 2>&1 || true
	sed -n 's/^[^ ]*planted.go:\([0-9]*\):.*(depguard)$/\1/p' output | sort -u | grep -c . || true
}

# refused PACKAGE IMPORT... fails unless every import is refused.
refused() {
	got=$(planted "$@")
	if [ "$got" != $(($# - 1)) ]; then
		echo "$1: of $(($# - 1)) imports that it must not have, the linter refuses $got:"
		cat "$copy/module/output"
		exit 1
	fi
}

# shellcheck disable=SC2086 # a list of imports
for package in api/v1alpha1 internal/tree internal/identity internal/flux internal/seal internal/ordered internal/effects render \
	healer/rules webhook/rules; do
	refused "$package" $pure
done
refused api/v1alpha1 $us/render $us/internal/tree $us/healer $us/webhook
refused internal/tree $us/api/v1alpha1 $us/render
refused internal/seal $us/render $us/healer $us/webhook
refused render $us/render/source $us/render/output $us/healer $us/webhook time
refused render/source $us/render $us/render/output $us/healer $us/webhook time
refused render/output $us/healer $us/webhook $us/cmd/fleetwright time
refused healer/rules $us/healer $us/webhook $us/cmd/fleetwright-healer
refused healer $us/webhook $us/cmd/fleetwright-healer
refused webhook/rules $us/webhook $us/healer $us/cmd/fleetwright-webhook
refused webhook $us/healer $us/cmd/fleetwright-webhook

# Where package time may be imported, for its types, the clock is refused.
for package in api/v1alpha1 healer/rules webhook/rules; do
	mkdir -p "$copy/clock/$package"
	printf 'package planted\n\nimport "time"\n\nvar _ = time.Now()\n' >"$copy/clock/$package/planted.go"
done
cd "$copy/clock"
cp "$config" .golangci.yml
printf 'module %s\n\ngo 1.26\n' "$us" >go.mod
"$linter" run --enable-only forbidigo ./... >output 2>&1 || true
if [ "$(grep -c 'planted.go:5:.*time.Now.*(forbidigo)$' output)" != 3 ]; then
	echo "the linter does not refuse the clock in each of three packages:"
	cat output
	exit 1
fi

# shellcheck disable=SC2086 # a list of imports
got=$(planted webhook/serve $pure)
[ "$got" = 0 ] || { echo "webhook/serve is an edge, and the linter refuses it $got imports"; exit 1; }
