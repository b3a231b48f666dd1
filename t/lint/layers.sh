#!/bin/sh
# Dependencies point one way: see HACKING.md, and the tables beside this file.
cd "$(dirname "$0")/../.." || exit 2
find dlang disasm symbols inject sdt tracer t \
    \( -name '*.[chlyS]' -o -name '*.def' \) ! -path 't/e2e/*' ! -path 't/bench/*' 2>/dev/null |
    sort |
    xargs awk -f t/lint/layers.awk t/lint/layers.txt t/lint/pins.txt \
	t/lint/rights.txt
