#!/bin/bash
# jstack() names code made at run time by the file that its program writes for
# perf: what was written last, and nothing that another user wrote.
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

prog='pid$target:a.out:leaf:entry { jstack(3); }'

frames() { # FILE: stacks, one a line, blanks within a name kept
	awk 'NF == 0 { if (s != "") print s; s = ""; next }
	    { sub(/^ +/, ""); s = s (s == "" ? "" : ";") $0 }
	    END { if (s != "") print s }' "$1"
}

# Before there is a file, the frame is an address; the rest goes on.
dt -q -o "$tmp/out" -n "$prog" -c "$bin/jitted 'int f(int) [1]' second"
is "status" "$status" 0
frames "$tmp/out" | sed 's/+0x[0-9a-f]*$//; s/0x[0-9a-f]*123[0-9a-f]/ADDR/; s/0x[0-9a-f]\+/ADDR/' >"$tmp/got"
cat >"$tmp/want" <<'END'
jitted`leaf;ADDR;jitted`main
jitted`leaf;int f(int) [1];jitted`main
jitted`leaf;second;jitted`main
END
same "names" "$tmp/want" "$tmp/got"

# As keys, equal names are equal; ustack() with room for strings does the same,
# without does not.
dt -q -o "$tmp/keys" -n 'pid$target:a.out:leaf:entry {
    @["j", jstack(2)] = count(); @["u", ustack(2, 100)] = count();
    @["n", ustack(2)] = count(); @["0", jstack(2, 0)] = count(); }' \
	-c "$bin/jitted same same"
is "keys" "$(grep -c '^ *same$' "$tmp/keys")" 2
is "key counts" "$(grep -oE '^ +[0-9]+$' "$tmp/keys" | xargs)" "1 1 2 2 3 3"

# Folded, a name is one word.
dt -q -x stackformat=folded -o "$tmp/folded" -n "$prog" \
	-c "$bin/jitted 'a b;c' second"
has "$tmp/folded" 'jitted`main;a_b:c;jitted`leaf$'

# A file of somebody else is not read: anybody can write to /tmp.
if [ "$(id -u)" = 0 ]; then
	dt -q -o "$tmp/foreign" -n "$prog" -c "$bin/jitted first second 12345"
	hasnt "$tmp/foreign" 'first|second'
	has "$tmp/foreign" '^ +0x[0-9a-f]+$'
fi
finish
