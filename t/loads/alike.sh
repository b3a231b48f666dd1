#!/bin/bash
# timeout: 3600
# D programs by jump and by trap, on programs that do the same in each run:
# aggregations are equal, and so are records in their order within a thread.  Then 8
# threads with a million calls each, by jump, exactly.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
LIMIT=300

# Clauses for a function F with one argument, called in threads that are told by it:
# F is called with N in the thread N % 8.
# shellcheck disable=SC2016
corpus=(
	'F:entry { @ = count(); }'
	'F:entry,F:return { @[probename] = count(); }'
	'F:entry,F:return { @[probefunc, probename] = sum(arg0); }'
	'F:entry { @[arg0 % 10] = count(); }'
	'F:entry { @a = min(arg0); @b = max(arg0); @c = avg(arg0); @d = stddev(arg0); }'
	'F:entry { @ = quantize(arg0); }'
	'F:return { @ = quantize(arg1); }'
	'F:entry { @ = lquantize(arg0, 0, 8000, 100); }'
	'F:entry { @ = llquantize(arg0, 10, 0, 4, 10); }'
	'F:entry /arg0 % 3 == 1/ { @[arg0 & 7] = sum(arg0 * 2); }'
	'F:entry { self->n++; } F:return /self->n % 50 == 0/ { @[self->n] = count(); }'
	'F:entry { self->a = arg0; } F:return { @ = sum(arg1 - self->a); self->a = 0; }'
	'F:entry { this->x = arg0; } F:entry /this->x & 1/ { @ = sum(this->x); }'
	'F:entry { @[strjoin("n", lltostr(arg0 % 5))] = count(); }'
	'F:entry { @[substr("abcdefgh", arg0 % 8, 1)] = count(); }'
	'F:entry { @[arg0 % 2 ? "odd" : "even"] = count(); }'
	'F:entry { @[(int8_t)arg0, (uint16_t)(arg0 * 77)] = count(); }'
	'F:entry { printf("%d %d\n", arg0 % 8, arg0); }'
	'F:return { printf("%d %s %d\n", arg1 % 8, probefunc, arg1); }'
	'F:entry /arg0 % 5 == 0/ { printf("%d %d\n", arg0 % 8, arg0); }
	    F:entry /arg0 % 7 == 0/ { printf("%d %d seven\n", arg0 % 8, arg0); }'
	'F:entry { self->n++; printf("%d %d %d\n", arg0 % 8, arg0, self->n); }'
	'F:entry { trace(arg0 % 8); trace(arg0); trace(probename); printf("\n"); }'
	'F:entry /arg0 % 100 == 99/ { g[arg0 % 3]++; @[g[arg0 % 3] > 0] = count(); }
	    END { printf("8 %d %d %d\n", g[0], g[1], g[2]); }'
	'F:entry { @[arg0 / (arg0 % 4)] = count(); } ERROR { @e[arg4] = count(); }'
	'F:entry { @[*(int *)0] = count(); } ERROR { @e[arg4, arg5] = count(); }'
)

n=0
for d in "${corpus[@]}"; do
	# shellcheck disable=SC2016 # dtrap's
	d=${d//F:/'pid$target:a.out:work:'}
	for way in off on; do
		dt -q -v -x fastpath=$way -x strsize=32 -x bufsize=8m \
		    -n "$d" -c "$bin/threads 8000"
		is "$way: status of dtrap" "$status" 0
		has "$tmp/out" '^calls 8000$'
		hasnt "$tmp/err" 'drop|internal'
		# Aggregations as they are, records by thread.
		grep -v -e '^calls ' -e '^sum ' "$tmp/out" >"$tmp/$way.out"
		sort -s -n -k 1,1 "$tmp/$way.out" >"$tmp/$way"
	done
	[ -s "$tmp/off" ] || wrong "nothing from $d"
	case $d in
	*printf* | *trace*) same "records of $d" "$tmp/off" "$tmp/on" ;;
	*) same "aggregations of $d" "$tmp/off.out" "$tmp/on.out" ;;
	esac
	n=$((n + 1))
done
echo "$n programs"

# shellcheck disable=SC2016
d='pid$target:a.out:work:entry { @n = count(); @s = sum(arg0); }
    pid$target:a.out:work:return { @q = quantize(arg1); }
    END { printa("calls %@d\n", @n); printa("args %@d\n", @s); }'
calls=8000000
dt -q -v -x fastpath=on -n "$d" -c "$bin/threads $calls"
is "status of dtrap" "$status" 0
has "$tmp/out" "^calls $calls\$"
is "calls counted" "$(grep -c "^calls $calls\$" "$tmp/out")" 2
has "$tmp/out" "^args $((calls * (calls - 1) / 2))\$"
is "returns" "$(awk '/\|/ { n += $NF } END { printf("%d\n", n) }' \
    <(sed -n '/value/,/^$/p' "$tmp/out"))" $calls
read -r hits < <(sed -n 's/^dtrap: \([0-9]*\) hits by jump.*/\1/p' "$tmp/err")
[ "${hits:-0}" -ge $((2 * calls - 100)) ] || wrong "only $hits hits by jump"
finish
