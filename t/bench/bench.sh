#!/bin/bash
# What a counted entry probe costs, beside other tracers, in one run on one
# machine; and how long it takes to the first clause.  It asserts nothing: the
# numbers are for people.
#
# Each tracer counts the calls of the same function of the same program, which
# measures itself; from that the untraced cost is taken.  Two functions: one
# begins with a push, one with a mov.  The best of $RUNS runs counts.
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
DTRAP=${DTRAP:-$PWD/dtrap}
RUNS=${RUNS:-3}
hot=$PWD/$B/e2e/hot
[ -x "$hot" ] || { echo "bench: $hot is missing: run 'make bench'" >&2; exit 1; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# per_call COMMAND...: ns per call as the program says, the best of the runs.
per_call() {
	local i
	for ((i = 0; i < RUNS; i++)); do
		timeout 120 "$@" </dev/null 2>"$tmp/err" |
		    sed -n 's/.*\(^\|[^0-9.]\)\([0-9.]*\) ns per call.*/\2/p'
	done | sort -n | head -n 1
}

row() { # name, push, mov
	awk -v name="$1" -v p="$2" -v m="$3" -v bp="$base_push" -v bm="$base_mov" \
	    -v dp="${dtrap_push:-}" -v dm="${dtrap_mov:-}" '
	function cell(v, b, d) {
		if (v == "")
			return sprintf("%10s %8s", "-", "")
		v -= b
		return sprintf("%10.0f %8s", v, d == "" ? "" : sprintf("%.2fx", v / (d - b)))
	}
	BEGIN { printf "%-26s%s  %s\n", name, cell(p, bp, dp), cell(m, bm, dm) }'
}

echo "$(uname -sr), $(nproc) processors, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
echo
base_push=$(per_call "$hot" 50000000 push)
base_mov=$(per_call "$hot" 50000000 mov)
echo "untraced call: push $base_push ns, mov $base_mov ns"
echo
printf '%-26s%10s %8s  %10s %8s\n' 'ns per hit' push '' mov ''

N=${N:-100000}
# dtrap_cost push|mov
dtrap_cost() {
	# shellcheck disable=SC2016
	per_call "$DTRAP" -q -o "$tmp/out" \
	    -n 'pid$target:a.out:hot_'"$1"':entry { @ = count(); }' -c "$hot $N $1"
}
dtrap_push=$(dtrap_cost push)
dtrap_mov=$(dtrap_cost mov)
row 'dtrap count()' "$dtrap_push" "$dtrap_mov"

# shellcheck disable=SC2016
row 'dtrap, predicate false' \
    "$(per_call "$DTRAP" -q -o "$tmp/out" -n 'pid$target:a.out:hot_push:entry /arg0 < 0/ { @ = count(); }' -c "$hot $N push")" \
    "$(per_call "$DTRAP" -q -o "$tmp/out" -n 'pid$target:a.out:hot_mov:entry /arg0 < 0/ { @ = count(); }' -c "$hot $N mov")"

if command -v bpftrace >/dev/null && [ "$(id -u)" = 0 ]; then
	bpf_cost() {
		per_call bpftrace -e "uprobe:$hot:hot_$1 { @ = count(); }" -c "$hot 1000000 $1"
	}
	row 'bpftrace uprobe count()' "$(bpf_cost push)" "$(bpf_cost mov)"
else
	echo "bpftrace: not installed, or not root"
fi

if command -v perf >/dev/null && [ "$(id -u)" = 0 ]; then
	perf_cost() {
		perf probe -q -x "$hot" -a "dtrapbench:$1=hot_$1" >/dev/null 2>&1 || return
		per_call perf stat -e "dtrapbench:$1" "$hot" 1000000 "$1"
		perf probe -q -d "dtrapbench:$1" >/dev/null 2>&1
	}
	row 'perf stat uprobe' "$(perf_cost push)" "$(perf_cost mov)"
else
	echo "perf: not installed, or not root"
fi

if command -v gdb >/dev/null; then
	gdb_cost() {
		per_call gdb -q -nx -batch -ex "break hot_$1" -ex 'ignore 1 100000000' \
		    -ex "run 5000 $1" "$hot"
	}
	row 'gdb ignored breakpoint' "$(gdb_cost push)" "$(gdb_cost mov)"
else
	echo "gdb: not installed"
fi

# started COMMAND...: the best of ten, in milliseconds.
started() {
	local i from to
	for ((i = 0; i < 10; i++)); do
		from=$(date +%s%N)
		"$@" >/dev/null 2>&1 </dev/null || return
		to=$(date +%s%N)
		echo $(((to - from) / 10000))
	done | sort -n | head -n 1 | awk '{ printf "%.1f", $1 / 100 }'
}

echo
printf '%-26s%10s\n' 'ms to first clause and out' ''
printf '%-26s%10s\n' dtrap "$(started "$DTRAP" -q -n 'BEGIN{exit(0)}')"
# shellcheck disable=SC2016
printf '%-26s%10s\n' 'dtrap -c true, one probe' \
    "$(started "$DTRAP" -q -n 'pid$target:libc:malloc:entry{@=count()}' -c true)"
if command -v bpftrace >/dev/null && [ "$(id -u)" = 0 ]; then
	printf '%-26s%10s\n' bpftrace "$(started bpftrace -e 'BEGIN{exit()}')"
fi
if command -v gdb >/dev/null; then
	printf '%-26s%10s\n' 'gdb -batch' "$(started gdb -q -nx -batch -ex quit)"
fi
