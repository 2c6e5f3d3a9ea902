#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# Compares the Go API with that of the last tag, and fails for what no longer compiles elsewhere: apidiff.sh TOOL DIRECTORY...
# Run from the root of the repository; TOOL is golang.org/x/exp/cmd/apidiff. A change that is meant is named, as it is
# printed, in test/build/apidiff.txt, which is emptied with each tag.
set -eu
tool=$1
accepted=test/build/apidiff.txt
shift
if ! tag=$(git describe --tags --abbrev=0 2>/dev/null); then
	echo "apidiff: there is no tag yet, so there is no Go API to keep"
	exit 0
fi
old=$(mktemp -d)
trap 'rm -rf "$old"' EXIT
git archive "$tag" | tar -xf - -C "$old"
found=$old/found
for dir in "$@"; do
	if [ ! -d "$old/$dir" ]; then continue; fi # it is new
	if [ ! -d "$dir" ]; then
		echo "$dir: removed"
		continue
	fi
	(cd "$old" && "$tool" -w "$old/exported" "./$dir")
	"$tool" -incompatible "$old/exported" "./$dir" | sed "s|^- |$dir: |"
done >"$found"
if [ -f "$accepted" ]; then
	grep -vxF -f "$accepted" "$found" >"$found.left" || true
	mv "$found.left" "$found"
fi
if [ -s "$found" ]; then
	sed "s|^|apidiff: incompatible with $tag: |" "$found" >&2
	exit 1
fi
echo "apidiff: $* are compatible with $tag"
