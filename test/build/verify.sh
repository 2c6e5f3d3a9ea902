#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# Checks the tree without changing it, and says everything that is wrong: verify.sh MODULE...
# Run from the root of the repository, as `make verify` does; the modules are directories below it.
set -u
failed=0
fail() {
	printf 'verify: %s\n' "$*" >&2
	failed=1
}

files=$(mktemp)
copy=$(mktemp -d)
before=$(mktemp -d)
trap 'rm -rf "$files" "$copy" "$before"' EXIT
git ls-files -co --exclude-standard | while IFS= read -r file; do
	if [ -f "$file" ]; then printf '%s\n' "$file"; fi
done >"$files"

# Every source file starts with its licence; generated code may have a build tag before it.
grep -E '(\.go|\.sh|\.ya?ml|\.tmpl|(^|/)Makefile)$' "$files" | grep -Ev '(^|/)(testdata|examples)/' | while IFS= read -r file; do
	head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || printf '%s\n' "$file"
done >"$copy/unlicensed"
[ -s "$copy/unlicensed" ] && fail "no SPDX line at the top of: $(tr '\n' ' ' <"$copy/unlicensed")"

unformatted=$(grep '\.go$' "$files" | grep -v '/testdata/' | xargs gofmt -l)
[ -n "$unformatted" ] && fail "gofmt would change: $unformatted"

for module in "$@"; do
	(cd "$module" && go vet ./...) || fail "go vet in $module"
	(cd "$module" && go mod tidy -diff) || fail "go mod tidy would change $module"
done

# What other programs may import.
apidiff=$(go tool -n -modfile=tools.mod apidiff) && sh test/build/apidiff.sh "$apidiff" api/v1alpha1 render render/source render/output ||
	fail "the Go API"

# What is generated is generated again, in a copy, and compared with another, since a work tree can hold empty directories.
rm "$copy/unlicensed"
tar -cf - -T "$files" | tar -xf - -C "$copy"
cp -R "$copy/." "$before"
(cd "$copy" && make --no-print-directory generate) || fail "make generate"
for dir in api config docs charts dist; do
	diff -r "$before/$dir" "$copy/$dir" || fail "$dir is not what make generate makes of it"
done

exit "$failed"
