#!/bin/sh
# The manual pages are clean for mandoc: its warnings are errors here.  77
# where mandoc is not installed.
cd "$(dirname "$0")/../.." || exit 2
command -v mandoc >/dev/null || { echo "mandoc is not installed"; exit 77; }
out=$(mandoc -T lint -W warning tracer/*.1 sdt/*.3 "${B:-build}"/man/*.7)
[ -z "$out" ] && exit 0
echo "$out"
exit 1
