#!/bin/bash
# Probes on instructions: the list is objdump's, and each fires as often as
# the function's shape says.
. "${0%/*}/lib.sh"
need objdump

objdump -d --no-show-raw-insn "$bin/args" | awk '
	/^[0-9a-f]+ <ten>:/ { on = 1; start = $1; next }
	/^$/ { on = 0 }
	on { sub(":", "", $1); print start, $1 }
	$2 == "ret" { on = 0 } # what follows is padding' |
    while read -r from at; do
	printf '%x\n' $((16#$at - 16#$from))
done | sort >"$tmp/insns"
[ "$(wc -l <"$tmp/insns")" -gt 8 ] || fail "objdump shows no function ten"

# shellcheck disable=SC2016
dt -l -n 'pid$target:a.out:ten:' -c "$bin/args"
is "status of -l" "$status" 0
awk '$2 ~ /^pid/ && $4 == "ten" { print $5 }' "$tmp/out" >"$tmp/listed"
grep -vE '^(entry|return)$' "$tmp/listed" | sort >"$tmp/offsets"
same "instructions by objdump and by -l" "$tmp/insns" "$tmp/offsets"
is "entry and return" "$(grep -cE '^(entry|return)$' "$tmp/listed")" 2

# A function without branches called three times: three of each.
# shellcheck disable=SC2016
dt -q -o "$tmp/trace" -n 'pid$target:a.out:ten: { @[probename] = count(); }
	END { printa("%s %@d\n", @); }' -c "$bin/args"
is "status" "$status" 0
sed '/^$/d' "$tmp/trace" | awk '$2 != 3 { print }' >"$tmp/bad"
[ ! -s "$tmp/bad" ] || wrong "not three times: $(cat "$tmp/bad")"
is "names" "$(sed '/^$/d' "$tmp/trace" | wc -l)" $(($(wc -l <"$tmp/insns") + 2))
"$bin/args" >"$tmp/plain"
same "output" "$tmp/plain" "$tmp/out"

# Offsets one by one, in hexadecimal; a glob; one that is no instruction.
second=$(sort -t x "$tmp/insns" | grep -v '^0$' | head -n 1)
# shellcheck disable=SC2016
dt -q -o "$tmp/trace2" -n 'pid$target:a.out:ten:0,pid$target:a.out:ten:'"$second"'
	{ @[probename] = count(); } END { printa("%s %@d\n", @); }' -c "$bin/args"
sed '/^$/d' "$tmp/trace2" | sort >"$tmp/two"
printf '%s 3\n' 0 "$second" | sort >"$tmp/want"
same "two offsets" "$tmp/want" "$tmp/two"


# The same by their addresses, as nm has them and as the process has them.
start=$(nm "$bin/args" | awk '$3 == "ten" { print $1 }')
at=$(printf '%x' $((0x$start + 0x$second)))
inside=1 # an offset that is no instruction's
while grep -qx "$(printf '%x' $inside)" "$tmp/insns"; do
	inside=$((inside + 1))
done
# shellcheck disable=SC2016
dt -q -o "$tmp/trace3" -n 'pid$target:a.out:-:'"$start"',pid$target::-:'"$at"'
	{ @[probefunc, probename] = count(); } END { printa("%s %s %@d\n", @); }' \
    -c "$bin/args"
sed '/^$/d' "$tmp/trace3" | sort >"$tmp/two"
printf '%s\n' "- $start 3" "- $at 3" | sort >"$tmp/want"
same "two addresses" "$tmp/want" "$tmp/two"
# shellcheck disable=SC2016
while read -r desc tag; do
	dt -x errtags -n 'pid$target:'"$desc"' { trace(1); }' -c "$bin/args"
	is "status of $desc" "$status" 1
	has "$tmp/err" "^dtrap: .*\\[$tag\\]"
done <<END
libc:-:$start D_PROC_LIB
a.out:-:xyz D_PROC_NAME
a.out:-:1* D_PROC_NAME
a.out:-: D_PROC_NAME
a.out:-:1 D_PROC_OFF
a.out:-:$(printf '%x' $((0x$start + inside))) D_PROC_ALIGN
END

# shellcheck disable=SC2016
dt -x errtags -n 'pid$target:a.out:ten:ffff { trace(1); }' -c "$bin/args"
is "status past the end" "$status" 1
has "$tmp/err" '^dtrap: .*\[D_PROC_OFF\]'
# shellcheck disable=SC2016
dt -x errtags -n 'pid$target:a.out:ten:xyz { trace(1); }' -c "$bin/args"
is "status of a bad name" "$status" 1
has "$tmp/err" '^dtrap: .*\[D_PROC_NAME\]'
# shellcheck disable=SC2016
dt -x errtags -n 'pid$target:a.out:nosuchfunction:entry { trace(1); }' \
    -c "$bin/args"
is "status of a missing function" "$status" 1
has "$tmp/err" '^dtrap: .*\[D_PROC_FUNC\]'
finish
