#!/bin/bash
# timeout: 300
# ls, sort, gzip, and a pipeline of bash print and return the same with libc
# and their own functions probed as without.
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
all='pid$target:libc::entry,pid$target:a.out::entry,pid$target:ld-linux-x86-64.so.2::entry'
# shellcheck disable=SC2016
ret='pid$target:libc:*str*:return,pid$target:libc:*mem*:return,pid$target:libc:*alloc*:return,pid$target:libc:*print*:return'

LIMIT=60
same_traced "$all" ls -laR /usr/bin/env t/e2e
same_traced "$ret" ls -l /usr/share
same_traced "$all" ls /no/such/file
seq 1 3000 | awk '{ print ($1 * 7919) % 3001, "line", $1 }' >"$tmp/lines"
same_traced "$all" sort -n "$tmp/lines"
same_traced "$ret" sort -k 3 "$tmp/lines"
FROM=$tmp/lines same_traced "$all" gzip -c
cmp -s "$tmp/plain.out" "$tmp/traced.out" || wrong "gzip's output"
gzip -c <"$tmp/lines" >"$tmp/lines.gz"
same_traced "$all" gzip -dc "$tmp/lines.gz"
same_traced "$all" gzip -dc "$tmp/lines"
# shellcheck disable=SC2016
same_traced "$all" bash -c \
    'for i in $(seq 1 20); do echo "$i $((i * i))"; done | sort -rn | head -n 5 | tr " " "\t"; exit 3'
# shellcheck disable=SC2016
same_traced "$ret" bash -c 'set -e; cd /; x=$(ls | wc -l); (echo "$x" | grep -c .); false; echo no'
finish
