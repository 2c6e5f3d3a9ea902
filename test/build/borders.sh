#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# Shows that the linter's borders can fail. It lints a small module with packages at the paths of pure packages and of edges.
# Each does what only an edge may do. Run from the root of the repository, as `make lint` does.
set -eu
pure='api/v1alpha1 healer/rules webhook/rules'
timeless='render internal/effects internal/flux internal/identity internal/ordered internal/seal internal/tree'
edges='healer webhook webhook/serve'

linter=$(go tool -modfile=lint.mod -n golangci-lint)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp .golangci.yml "$copy"
cd "$copy"
printf 'module planted\n\ngo 1.26\n' >go.mod
for package in $pure $timeless $edges; do
	mkdir -p "$package"
	cat >"$package/planted.go" <<-'END'
		package planted

		import (
			"log"
			"net/http"
			"os"
			"time"
		)

		var _, _, _, _ = log.Default, http.Get, os.Getenv, time.Now()
	END
done
for package in $timeless; do
	printf "$package/planted.go:%s\n" '7 depguard'
done >want
for package in $pure $timeless; do
	printf "$package/planted.go:%s\n" '4 depguard' '5 depguard' '6 depguard' '10 forbidigo'
done >>want
"$linter" run --enable-only depguard,forbidigo ./... >output 2>&1 || true
sed -n 's/^\([^ :]*:[0-9]*\):[0-9]*: .*(\([a-z]*\))$/\1 \2/p' output | sort >got
if ! sort want | diff - got; then
	cat output
	exit 1
fi
