#!/bin/bash
# One evaluation of a clause in the VM, with no process in sight.
. "${0%/*}/lib.sh"

best() {
	local i
	for ((i = 0; i < RUNS; i++)); do
		"$B/bench/bench_vm" | sed -n "s/^$1: \([0-9.]*\) ns/\1/p"
	done | sort -n | head -n 1
}

table 'ns per evaluation' ''
row 'count()' "$(best 'count(), predicate true')"
row 'predicate false' "$(best 'count(), predicate false')"
row 'trace(arg0)' "$(best 'trace(arg0), predicate true')"
