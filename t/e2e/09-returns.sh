#!/bin/bash
# Return probes on every way out: ret, tail calls, conditional jumps, longjmp.
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
dt -q -o "$tmp/trace" -n '
	pid$target:a.out:last:entry,pid$target:a.out:tail:entry,
	pid$target:a.out:maybe_tail:entry,pid$target:a.out:deep:entry,
	pid$target:a.out:cond_leave:entry,
	pid$target:a.out:escapes:entry { @e[probefunc] = count(); }
	pid$target:a.out:last:return,pid$target:a.out:tail:return,
	pid$target:a.out:maybe_tail:return,pid$target:a.out:deep:return,
	pid$target:a.out:cond_leave:return,
	pid$target:a.out:escapes:return { @r[probefunc] = count(); }
	END { printa("%s entry %@d\n", @e); printa("%s return %@d\n", @r); }' \
    -c "$bin/rets"
is "status" "$status" 0
"$bin/rets" >"$tmp/plain"
same "output" "$tmp/plain" "$tmp/out"
# What the program says: "NAME CALLS" pairs; two of escapes() never return.
sed -n 2p "$tmp/plain" | awk '{
	for (i = 1; i < NF; i += 2)
		if ($i != "back")
			n[$i] = $(i + 1)
		else
			back = $(i + 1)
	for (f in n) {
		print f, "entry", n[f]
		print f, "return", f == "escapes" ? back : n[f]
	}
}' | sort >"$tmp/want"
sed '/^$/d' "$tmp/trace" | sort >"$tmp/seen"
same "entries and returns" "$tmp/want" "$tmp/seen"
finish
