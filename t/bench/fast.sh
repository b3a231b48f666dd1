#!/bin/bash
# What a hit by jump costs (option fastpath), beside one by trap and one of a
# tracer in the kernel: the same function of the same program.
. "${0%/*}/lib.sh"

N=${N:-3000000}
kinds=(push mov)

# all FUNCTION ARG...: of each kind, as arguments for row.
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

# by_trap CLAUSE KIND, by_jump CLAUSE KIND
by_trap() {
	per_call "$DTRAP" -x fastpath=off -q -o "$tmp/out" -n "pid\$target:a.out:hot_$2:entry $1" \
	    -c "$hot 100000 $2"
}

# jit: off has the clause interpreted.
jit=on
by_jump() {
	rm -f "$tmp/out"
	per_call "$DTRAP" -x fastpath=on -x jit=$jit -q -o "$tmp/out" \
	    -n "pid\$target:a.out:hot_$2:entry $1" -c "$hot $N $2"
}

# Entry and return of one call.
pair_by_jump() {
	rm -f "$tmp/out"
	per_call "$DTRAP" -x fastpath=on -x jit=$jit -q -o "$tmp/out" \
	    -n "pid\$target:a.out:hot_pair:entry $1" \
	    -n "pid\$target:a.out:hot_pair:return $2" -c "$hot $N pair"
}

# The lane's part of the buffer takes a round's records, and they are read between
# two rounds.
records_by_jump() {
	rm -f "$tmp/out"
	per_call "$DTRAP" -x fastpath=on -x jit=$jit -x bufsize=64m \
	    -x switchrate=100ms -q -o "$tmp/out" \
	    -n "pid\$target:a.out:hot_$2:entry $1" -c "$hot 20000 $2 5"
}

by_bpftrace() {
	per_call bpftrace -e "uprobe:$hot:hot_$1 { @ = count(); }" \
	    -c "$hot 1000000 $1"
}

table 'ns per hit' push mov
all untraced
base "${values[@]}"
all by_jump '{ @ = count(); }'
row 'by jump, count()' "${values[@]}"
all by_jump '/arg0 < 0/ { @ = count(); }'
row 'by jump, predicate false' "${values[@]}"
all by_jump '/arg0 == 7/ { @ = count(); }'
row 'by jump, predicate mostly false' "${values[@]}"
all by_jump '{ @[arg0 & 1023] = count(); }'
row 'by jump, 1,024 keys' "${values[@]}"
# shellcheck disable=SC2016
all by_jump '{ @[probefunc] = count(); }'
row 'by jump, count() by name' "${values[@]}"
all by_jump '{ @ = quantize(arg0); }'
row 'by jump, quantize()' "${values[@]}"
all by_jump '{ self->t = timestamp; }'
row 'by jump, self->t = timestamp' "${values[@]}"
all records_by_jump '{ trace(arg0); trace(arg1); }'
row 'by jump, a record of two words' "${values[@]}"
jit=off
all records_by_jump '{ trace(arg0); trace(arg1); }'
row 'interpreted, the same record' "${values[@]}"
all by_jump '{ @ = count(); }'
row 'interpreted, count()' "${values[@]}"
all by_jump '/arg0 < 0/ { @ = count(); }'
row 'interpreted, predicate false' "${values[@]}"
all by_jump '{ @[arg0 & 1023] = count(); }'
row 'interpreted, 1,024 keys' "${values[@]}"
all by_jump '{ @[probefunc] = count(); }'
row 'interpreted, count() by name' "${values[@]}"
all by_trap '{ @ = count(); }'
row 'by trap, count()' "${values[@]}"
if have bpftrace root; then
	all by_bpftrace
	row 'bpftrace, count()' "${values[@]}"
fi

# shellcheck disable=SC2016
timed=('{ self->t = timestamp; }'
    '/self->t/ { @ = quantize(timestamp - self->t); self->t = 0; }')
counted=('{ @ = count(); }' '{ @ = count(); }')
jit=on
table 'ns per call, entry and return' pair
base "$(per_call "$hot" 50000000 pair)"
row 'by jump, count() at both' "$(pair_by_jump "${counted[@]}")"
row 'by jump, time between them' "$(pair_by_jump "${timed[@]}")"
jit=off
row 'interpreted, time between them' "$(pair_by_jump "${timed[@]}")"
