#!/bin/bash
# How long a program takes for one child, from fork to its end with an exec
# between, when it is traced together with its children.  Forks take as long as
# the machine lets them: the rows are measured in turn, several times.
. "${0%/*}/lib.sh"

N=${N:-100}
turns=$((RUNS * 2))
RUNS=1
declare -A least=()

# once NAME COMMAND...: us for a child.
once() {
	local name=$1 us
	shift
	us=$(per_call "$@" | awk 'NF { printf "%.1f", $1 / 1000 }')
	[ -n "$us" ] || return
	least[$name]=$(printf '%s\n' "$us" "${least[$name]:-$us}" |
	    sort -n | head -n 1)
}

# shellcheck disable=SC2016
probe='pid$target:a.out:hot_push:entry { @ = count(); }'
go="$hot $N spawn"
# shellcheck disable=SC2086 # words
by_strace() {
	local name=$1
	shift
	once "$name" strace -e trace=none -o "$tmp/out" "$@" $go
}

table 'us per child' fork+exec
names=(untraced 'dtrap, followed' 'dtrap -x follow=none')
if have strace; then
	names+=('strace -f -e trace=none' 'strace --seccomp-bpf, the same'
	    'strace -e trace=none, no -f')
fi
for ((i = 0; i < turns; i++)); do
	# shellcheck disable=SC2086 # words
	once "${names[0]}" $go
	once "${names[1]}" "$DTRAP" -q -o "$tmp/out" -n "$probe" -c "$go"
	once "${names[2]}" "$DTRAP" -q -o "$tmp/out" -x follow=none \
	    -n "$probe" -c "$go"
	[ ${#names[@]} -gt 3 ] || continue
	by_strace "${names[3]}" -f
	by_strace "${names[4]}" -f --seccomp-bpf
	by_strace "${names[5]}"
done
for name in "${names[@]}"; do
	row "$name" "${least[$name]:-}"
done
