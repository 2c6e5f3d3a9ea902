#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# Runs a command and says how long it took: stage.sh NAME COMMAND [ARGUMENT...]
name=$1
shift
start=$(date +%s)
printf '== %s\n' "$name"
"$@"
code=$?
if [ "$code" -eq 0 ]; then word=done; else word=FAILED; fi
printf '== %s: %s after %d s\n' "$name" "$word" $(($(date +%s) - start))
exit "$code"
