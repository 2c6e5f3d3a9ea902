#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Bounds the quantities of definitions, as internal/tree bounds those of files: with more than 18 digits and a long exponent one
# takes minutes to parse, for everybody who reads the fleet, and for the API server's own rules, which a text that is too long
# does not reach.
set -eu
sed -E -i \
	-e 's/^( *)(pattern: .*\[numkMGTPE\].*)$/\1maxLength: 20\n\1\2/' \
	-e 's/\(\[eE\]\(\\\+\|-\)\?\(\(\[0-9\]\+\(\\\.\[0-9\]\*\)\?\)\|\(\\\.\[0-9\]\+\)\)\)/([eE]((\\+|-)?[0-9]{1,2}|[0-9]{3}))/' "$@"
for file in "$@"; do
	if grep -q '\[numkMGTPE\]' "$file" && grep -q '\[eE\](\\+|-)?((' "$file"; then
		echo "$file: a quantity without a bound" >&2
		exit 1
	fi
done
