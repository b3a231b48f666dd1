#!/bin/bash
# How long a program takes for one child, from fork to its end with an exec
# between, when it is traced together with its children.
. "${0%/*}/lib.sh"

N=${N:-200}

# shellcheck disable=SC2016
by_dtrap() {
	per_call "$DTRAP" -q -o "$tmp/out" "$@" \
	    -n 'pid$target:a.out:hot_push:entry { @ = count(); }' -c "$hot $N spawn"
}

table 'us per child' fork+exec
us() {
	awk 'NF { printf "%.1f", $1 / 1000 }'
}

row untraced "$(per_call "$hot" "$N" spawn | us)"
row 'dtrap, followed' "$(by_dtrap | us)"
row 'dtrap -x follow=none' "$(by_dtrap -x follow=none | us)"
if have strace; then
	row 'strace -f -e trace=none' "$(per_call strace -f -e trace=none \
	    -o "$tmp/out" "$hot" "$N" spawn | us)"
	row 'strace --seccomp-bpf, the same' "$(per_call strace --seccomp-bpf \
	    -f -e trace=none -o "$tmp/out" "$hot" "$N" spawn | us)"
	row 'strace -e trace=none, no -f' "$(per_call strace -e trace=none \
	    -o "$tmp/out" "$hot" "$N" spawn | us)"
fi
