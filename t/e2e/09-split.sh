#!/bin/bash
# Functions whose code lies in several places, that begin with a loop, and that
# end in a jump through a pointer: one entry a call, and one return.
# shellcheck disable=SC2016 # D has variables of its own
. "${0%/*}/lib.sh"
# Output in a file of its own, which dtrap appends to.
traced() {
	rm -f "$tmp/trace"
	dt -q -o "$tmp/trace" "$@"
}

names='split leap one through_reg through_mem again table spin wind whole front'
for n in $names; do
	entries+=${entries:+,}'pid$target:a.out:'$n:entry
	returns+=${returns:+,}'pid$target:a.out:'$n:return
done

for prog in split split-stripped split-static; do
	"$bin/$prog" >"$tmp/plain" || fail "$prog"
	# What the program says: NAME ENTRIES RETURNS.
	grep -v values "$tmp/plain" | sort >"$tmp/want"

	# shellcheck disable=SC2016
	traced -n "$entries { @e[probefunc] = count(); }
	    $returns { @r[probefunc] = count(); }
	    END { printa(\"%s %@d %@d\n\", @e, @r); }" -c "$bin/$prog"
	is "$prog: status" "$status" 0
	same "$prog: output" "$tmp/plain" "$tmp/out"
	sed '/^$/d' "$tmp/trace" | sort >"$tmp/seen"
	same "$prog: entries and returns" "$tmp/want" "$tmp/seen"

	# A probe of entries alone, or of returns alone, sees as many; an
	# instruction at the begin runs as often as the loop goes round.
	dt -q -n "$entries { @[probefunc] = count(); }
	    END { printa(\"%s %@d\n\", @); }" -c "$bin/$prog"
	cut -d' ' -f1,2 "$tmp/want" >"$tmp/want.e"
	grep -E "^(${names// /|}) [0-9]+$" "$tmp/out" | sort >"$tmp/seen"
	same "$prog: entries alone" "$tmp/want.e" "$tmp/seen"
	# shellcheck disable=SC2016
	dt -q -n 'pid$target:a.out:spin:entry { @e = count(); }
	    pid$target:a.out:spin:0 { @o = count(); }
	    END { printa("entered %@d ran %@d\n", @e, @o); }' -c "$bin/$prog"
	has "$tmp/out" '^entered 4 ran 40$'

	# The value is that of the real return, behind the seldom part.
	# shellcheck disable=SC2016
	traced -n 'BEGIN { printf("values"); }
	    pid$target:a.out:split:return { printf(" %d", (int)arg1); }
	    END { printf("\n"); }' -c "$bin/$prog"
	grep values "$tmp/plain" >"$tmp/want"
	grep values "$tmp/trace" >"$tmp/seen"
	same "$prog: values" "$tmp/want" "$tmp/seen"

	# Where the seldom part calls, the function is the caller: also where no
	# symbol says whose part that is.
	traced -n 'pid$target:a.out:seldom:entry { @[ustack(2)] = count();
	    @f[ufunc(ucaller)] = count(); }' -c "$bin/$prog"
	has "$tmp/trace" '`split(\.cold)?[-+]0x'
	hasnt "$tmp/trace" '`sub_'

	# ... and so is its place among others.
	# shellcheck disable=SC2016
	traced -n 'pid$target:a.out:split:,pid$target:a.out:seldom:
	    /probename == "entry" || probename == "return"/
	    { printf("%s %s\n", probefunc, probename); }' -c "$bin/$prog"
	grep split "$tmp/trace" | uniq -d >"$tmp/twice"
	same "$prog: in turns" /dev/null "$tmp/twice"
done

# No jump of a switch takes a trap.
# shellcheck disable=SC2016
DTRAP_DEBUG=pid dt -l -n 'pid$target:a.out:table:return' -c "$bin/split"
has "$tmp/err" 'table: .* of which 0 are told'

# What cannot be told is said.
# shellcheck disable=SC2016
dt -l -v -n 'pid$target:a.out:odd:entry' -c "$bin/split"
has "$tmp/out" 'could not be decoded to its end\. .* entry fires again'
# shellcheck disable=SC2016
dt -l -v -n 'pid$target:a.out:spin:' -c "$bin/split"
hasnt "$tmp/out" 'could not be decoded'
finish
