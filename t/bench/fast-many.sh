#!/bin/bash
# What hits by jump cost where the processor's caches do not hold their code, where
# many threads have them, and in a whole program: every function of Python.
. "${0%/*}/lib.sh"

N=${N:-20000000}
cold=$PWD/$B/e2e/cold

# calls FUNCTIONS THREADS [CLAUSE]: with a clause, traced by jump.
calls() {
	local clause=${3:-}
	if [ -z "$clause" ]; then
		per_call "$cold" "$N" "$1" "$2"
	else
		per_call "$DTRAP" -x fastpath=on -q -o "$tmp/out" \
		    -n "pid\$target:a.out:cold_*:entry $clause" \
		    -c "$cold $N $1 $2"
	fi
}

# columns [CLAUSE]: one function, 10,000, and one of 8 threads.
columns() {
	values=("$(calls 1 1 "$@")" "$(calls 10000 1 "$@")" "$(calls 1 8 "$@")")
}

table 'ns of the processor, by jump' 'one function' '10,000' '8 threads'
columns
base "${values[@]}"
columns '{ @ = count(); }'
row 'count()' "${values[@]}"
columns '/arg0 < 0/ { @ = count(); }'
row 'predicate false' "${values[@]}"
# shellcheck disable=SC2016 # D text
columns '{ @[probefunc] = count(); }'
row 'count() by name' "${values[@]}"

# ---- a whole program ----

python=$(readlink -f /usr/bin/python3)
cat >"$tmp/work.py" <<'END'
import json, re, time
text = json.dumps([{"a%d" % i: [i, str(i), i / 3]} for i in range(2000)])
def work():
    for _ in range(12):
        json.loads(text)
        json.dumps(json.loads(text), sort_keys=True)
        re.sub(r"[0-9]+", lambda m: m.group()[::-1], text)
        sorted(text.split(","), key=len)
work()
t = time.process_time_ns()
work()
print((time.process_time_ns() - t) / 1e6, "ns per call")
END
[ -x "$python" ] || { echo "python3: not installed, skipped"; exit 0; }
table 'ms, a program of Python' ''
plain=$(per_call "$python" "$tmp/work.py")
base "$plain"
# shellcheck disable=SC2016 # D text
row 'entry and return, count() by name' "$(per_call "$DTRAP" -x fastpath=on -q \
    -o "$tmp/out" -n 'pid$target:a.out::entry, pid$target:a.out::return
	{ @[probefunc] = count(); }' -c "$python $tmp/work.py")"
