#!/bin/bash
# What a counted probe costs, beside other tracers: each counts the calls of the
# same function of the same program, which measures itself.  The function begins
# with a push, with a mov, or has a static probe.
. "${0%/*}/lib.sh"

N=${N:-100000}
many=$((N * 10))
kinds=(push mov sdt)

# all FUNCTION: of each kind, as arguments for row.
all() {
	local k
	values=()
	for k in "${kinds[@]}"; do
		values+=("$("$@" "$k")")
	done
}

untraced() {
	per_call "$hot" 50000000 "$1"
}

# shellcheck disable=SC2016
probe() {
	case $1 in
	sdt) echo 'hot$target:::here' ;;
	*) echo 'pid$target:a.out:hot_'"$1"':entry' ;;
	esac
}

counted() {
	per_call "$DTRAP" -x fastpath=off -q -o "$tmp/out" -n "$(probe "$1") { @ = count(); }" \
	    -c "$hot $N $1"
}

refused() {
	per_call "$DTRAP" -x fastpath=off -q -o "$tmp/out" \
	    -n "$(probe "$1") /arg0 < 0/ { @ = count(); }" -c "$hot $N $1"
}

by_bpftrace() {
	local p=uprobe:$hot:hot_$1
	[ "$1" != sdt ] || p=usdt:$hot:hot:here
	per_call bpftrace -e "$p { @ = count(); }" -c "$hot $many $1"
}

by_perf() {
	local p=hot_$1
	[ "$1" != sdt ] || return
	perf probe -q -x "$hot" -a "dtrapbench:$1=$p" >"$tmp/out" 2>&1 || return
	per_call perf stat -e "dtrapbench:$1" "$hot" "$many" "$1"
	perf probe -q -d "dtrapbench:$1" >"$tmp/out" 2>&1
}

by_gdb() {
	local p=hot_$1
	[ "$1" != sdt ] || p="-probe-stap hot:here"
	per_call gdb -q -nx -batch -ex "break $p" -ex 'ignore 1 100000000' \
	    -ex "run 5000 $1" "$hot"
}

table 'ns per hit' push mov 'static probe'
all untraced
base "${values[@]}"
all counted
row 'dtrap, count()' "${values[@]}"
all refused
row 'dtrap, predicate false' "${values[@]}"
if have bpftrace root; then
	all by_bpftrace
	row 'bpftrace, count()' "${values[@]}"
fi
if have perf root; then
	all by_perf
	row 'perf stat' "${values[@]}"
fi
if have gdb; then
	all by_gdb
	row 'gdb, ignored breakpoint' "${values[@]}"
fi
