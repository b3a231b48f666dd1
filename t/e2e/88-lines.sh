#!/bin/bash
# Probes on lines of the source and on inlined functions, and local variables
# there by name: what the program prints is what the probes have to see.
# shellcheck source=t/e2e/lib.sh
. "${0%/*}/lib.sh"
need gcc g++
src=t/e2e/src/lines.c

# at MARK [FILE]: the line with that comment.
at() {
	grep -n "/\\* $1 \\*/" "${2:-$src}" | cut -d: -f1
}

# shellcheck disable=SC2016 # D, not shell
{
# What the program prints on marked lines, by the probes that are there.
cat >"$tmp/all.d" <<END
#pragma D option quiet
pid\$target:MODULE:lines.c@$(at TWICE):
{
	printf("twice %d %d\\n", local\`value, local\`result);
}
pid\$target:MODULE:lines.c@$(at WIDE):
{
	printf("wide %d %u %d %u %d %u %d %d %s\\n", local\`a1, local\`a2,
	    local\`a3, local\`a4, local\`a5, local\`a6, local\`a7, local\`a8,
	    stringof(local\`a9));
}
pid\$target:MODULE:lines.c@$(at INNER):
{
	printf("inner %d %d\\n", local\`step, local\`it->id);
}
pid\$target:MODULE:lines.c@$(at WALK):line
{
	printf("walk %d %d %s %d %d %d\\n", local\`step, local\`sum,
	    stringof(local\`it->name), local\`visits, local\`squares[1],
	    local\`copy.id);
}
pid\$target:MODULE:lines.c@$(at FLOATS):
{
	printf("floats %d\\n", local\`whole);
}
pid\$target:MODULE:lines.c@$(at GONE):
{
	printf("gone %d\\n", local\`kept);
}
END
grep -c MODULE "$tmp/all.d" | grep -qx 6 || fail "a line is not marked"

# check WHAT: what the probes said is what the program said.
check() {
	grep -vE '^(all|ready)' "$tmp/out" >"$tmp/want"
	[ "$(wc -l <"$tmp/want")" = 34 ] || wrong "$1: the program is cut short"
	grep . "$tmp/seen" >"$tmp/got"
	same "$1" "$tmp/want" "$tmp/got"
	rm -f "$tmp/seen"
}

sed 's/MODULE/a.out/' "$tmp/all.d" >"$tmp/exec.d"
for how in o0 o2 o3 nopie dwarf4 split debuglink clang-o0; do
	[ -x "$bin/lines-$how" ] || continue # there is no clang
	dt -s "$tmp/exec.d" -o "$tmp/seen" -c "$bin/lines-$how"
	is "$how: status" "$status" 0
	check "$how"
done

# In a child, and in a library that is loaded later: it was built of the same
# source, so that the names are known before it is there.
dt -s "$tmp/exec.d" -o "$tmp/seen" -c "$bin/lines-o2 fork"
check "in a child"
sed 's/MODULE//' "$tmp/all.d" >"$tmp/any.d"
dt -s "$tmp/any.d" -o "$tmp/seen" -c "$bin/lines-o0 $bin/liblines.so"
check "in a library"
sed 's/MODULE/liblines.so/' "$tmp/all.d" >"$tmp/lib.d"
dt -Z -x errtags -s "$tmp/lib.d" -c "$bin/lines-o2 $bin/liblines.so"
is "names of what is not there yet: status" "$status" 1
has "$tmp/err" '\[D_IDENT_UNDEF\].*The probe is at no place in a program'
dt -Z -q -o "$tmp/seen" -n 'pid$target:liblines.so:lines.c@'"$(at TWICE)"':,
    pid$target:liblines.so:twice:inline-entry { @[probename] = count(); }
    END { printa("%s %@d\n", @); }' -c "$bin/lines-o2 $bin/liblines.so"
is "lines of what is not there yet" \
    "$(grep . "$tmp/seen" | sort | tr '\n' ' ')" 'inline-entry 7 line 7 '
rm -f "$tmp/seen"

# Attached to, and let go.
need_attach
start p "$bin/lines-o2" wait
line p '^ready'
start_dt dt -s "$tmp/exec.d" -p "${pid[p]}"
tell p go
end p
is "attached: the program" "$status" 0
end dt
cp "$tmp/p.out" "$tmp/out"
grep -v armed "$tmp/dt.out" >"$tmp/seen"
check "attached"

# At a static probe: two places of one, in a function that may be inlined.
start app "$bin/usdt"
line app ready
start_dt dt -q -n 'my-app$target:::plain {
    printf("hits %d %s\n", local`hits, stringof(local`text)); }' -p "${pid[app]}"
tell app hit
line app 'hit 1'
close_in app
end app
end dt
is "static probe" "$(grep hits "$tmp/dt.out" | tr '\n' ' ')" \
    'hits 1 t1 hits 1 t1 '

# How often: the copies of an inlined function, inlined in an inlined one or
# not; each turn of a loop, also where it is unrolled; a loop's line as often
# as control comes to it.  (Where clang unrolls the loop round it, it says one
# entry for the copies of a copy.)
loop=$(($(at BODY) - 2))
for how in o0 o2 o3 nopie dwarf4 split debuglink clang-o0; do
	[ -x "$bin/lines-$how" ] || continue
	dt -q -o "$tmp/seen" -n 'pid$target:a.out:twice:inline-entry,
	    pid$target:a.out:outer:inline*,
	    pid$target:a.out:lines.c@'"$(at BODY)"':line
	    { @[probefunc, probename] = count(); }
	    END { printa("%s %s %@d\n", @); }' -c "$bin/lines-$how"
	grep . "$tmp/seen" | sort >"$tmp/got"
	printf '%s\n' 'outer inline-entry 3' 'twice inline-entry 7' \
	    "lines.c@$(at BODY) line 15" | sort >"$tmp/want"
	same "$how: counts" "$tmp/want" "$tmp/got"
	rm -f "$tmp/seen"
done
dt -q -o "$tmp/seen" -n 'pid$target:a.out:lines.c@'"$loop"': { @ = count(); }
    END { printa("%@d\n", @); }' -c "$bin/lines-o0"
is "a loop begins and goes on" "$(grep . "$tmp/seen")" $((3 + 15))

# Where gdb would stop is one of the places; it has one for each block.
if command -v gdb >/dev/null; then
	for mark in WIDE INNER WALK FLOATS GONE KEPT; do
		rm -f "$tmp/seen"
		dt -q -o "$tmp/seen" -n 'pid$target:a.out:lines.c@'"$(at $mark)"': {
		    @[uregs[R_RIP]] = count(); } END { printa("%x\n", @); }' \
		    -c "$bin/lines-nopie"
		where=$(gdb -batch -ex "info line lines.c:$(at $mark)" \
		    "$bin/lines-nopie" 2>&1 |
		    sed -n 's/.*starts at address 0x\([0-9a-f]*\).*/\1/p')
		grep -qx "$where" "$tmp/seen" ||
		    wrong "$mark: gdb says '$where', not $(cat "$tmp/seen")"
	done
	rm -f "$tmp/seen"
fi

# Values where functions and their copies begin, with optimisation or not.
for how in o0 o2 clang-o0 clang-o2; do
	[ -x "$bin/lines-$how" ] || continue
	rm -f "$tmp/seen"
	dt -q -o "$tmp/seen" -n 'pid$target:a.out:wide:entry {
	    printf("wide %d %u %d %u %d %u %d %d %s\n", local`a1, local`a2,
		local`a3, local`a4, local`a5, local`a6, local`a7, local`a8,
		stringof(local`a9)); }' -c "$bin/lines-$how"
	grep '^wide' "$tmp/out" >"$tmp/want"
	grep . "$tmp/seen" >"$tmp/got"
	same "$how: entry" "$tmp/want" "$tmp/got"
	rm -f "$tmp/seen"
	dt -q -o "$tmp/seen" -n 'pid$target:a.out:walk:entry {
	    printf("%d %s\n", local`list->id, stringof(local`list->next->next->name));
	    }' -c "$bin/lines-$how"
	is "$how: through pointers" "$(grep . "$tmp/seen" | sort -u)" '1 three'
done

# On the line of a call that is inlined, a name is the caller's, though its
# first instruction is the copy's.
for how in o0 o2 o3; do
	rm -f "$tmp/seen"
	dt -q -o "$tmp/seen" -n 'pid$target:a.out:lines.c@'"$(at CALL)"': {
	    printf("%d ", local`value); }' -c "$bin/lines-$how"
	is "$how: line of a call" "$(tr -d '\n' <"$tmp/seen")" '0 1 2 '
done
rm -f "$tmp/seen"

# Structs and arrays, addresses, members, types; a whole struct.
dt -q -o "$tmp/print" -n 'pid$target:a.out:lines.c@'"$(at WALK)"': {
	this->all = sizeof(local`copy) == sizeof(struct item) &&
	    &local`copy.id == (int *)&local`copy &&
	    *(&local`squares[1]) == local`squares[1] &&
	    *&local`visits == local`visits &&
	    local`copy.high * 8 + local`copy.low == 807;
	printf("%d\n", this->all);
	print(local`copy.grid);
	exit(0); }' -c "$bin/lines-o0"
has "$tmp/print" '^1$'
has "$tmp/print" '\(long \[2\]\[2\]\)'
has "$tmp/print" '\(long\)7,'

# A range, and a variable that is away on a part of it: there it is a fault.
from=$(at KEPT) to=$(at GONE)
dt -q -o "$tmp/away" -n 'pid$target:a.out:lines.c@'"$from-$to"': {
	printf("%s %d\n", probefunc, local`lost); }
	ERROR { printf("fault %d\n", arg4); }' -c "$bin/lines-o2"
is "away: status" "$status" 0
has "$tmp/away" "^lines.c@$from 2\$"
has "$tmp/away" '^fault 3$'
has "$tmp/err" 'illegal operation'
hasnt "$tmp/away" "^lines.c@$to "

# Lists: lines and copies only where they are asked for.
dt -l -n 'pid$target:a.out::' -c "$bin/lines-o2"
hasnt "$tmp/out" 'inline-entry|@[0-9]'
dt -l -n 'pid$target:a.out:*nes.c@*:' -n 'pid$target:a.out::inline-entry' \
    -c "$bin/lines-o2"
has "$tmp/out" "lines.c@$(at WIDE) +line\$"
is "list of copies" "$(awk '$5 == "inline-entry" { print $4 }' "$tmp/out" |
    sort | tr '\n' ' ')" 'outer trigger_init trigger_wait twice '
# All there is, beside functions and instructions: nothing is disturbed.
dt -q -o "$tmp/both" -n 'pid$target:a.out:lines.c@*:,
    pid$target:a.out::inline-entry,pid$target:a.out:walk:
    { @[probename == "line" ? "lines" : "others"] = count(); }' \
    -c "$bin/lines-o2"
is "all: status" "$status" 0
"$bin/lines-o2" >"$tmp/plain"
same "all: output" "$tmp/plain" "$tmp/out"

# One file by more or less of its path.
line=$(at GONE)
dt -q -o "$tmp/paths" -n 'pid$target:a.out:lines.c@'"$line"':,
    pid$target:a.out:src/lines.c@'"$line"':,
    pid$target:a.out:e2e/src/*.c@'"$line"': { @[probefunc] = count(); }
    END { printa("%s %@d\n", @); }' -c "$bin/lines-o2"
is "paths" "$(grep . "$tmp/paths" | sort | tr '\n' ' ')" \
    "e2e/src/lines.c@$line 3 lines.c@$line 3 src/lines.c@$line 3 "

# C++: this, references, members, templates by their plain name.
src=t/e2e/src/linescc.cc
for how in o0 o2; do
	rm -f "$tmp/seen"
	dt -q -o "$tmp/seen" -n 'pid$target:a.out:linescc.cc@'"$(at SEND)"': {
	    printf("send %d %d %s %d %u %d\n", local`this->fd, local`where->y,
		stringof(local`what), local`urgent, local`low,
		local`copy.wide[2]); }' -c "$bin/linescc-$how"
	grep '^send' "$tmp/out" >"$tmp/want"
	grep . "$tmp/seen" >"$tmp/got"
	same "C++ $how" "$tmp/want" "$tmp/got"
	rm -f "$tmp/seen"
	dt -q -o "$tmp/seen" -n 'pid$target:a.out:add:inline-entry
	    { @ = count(); } END { printa("%@d\n", @); }' \
	    -c "$bin/linescc-$how"
	is "C++ $how: copies" "$(grep . "$tmp/seen")" 6
done
dt -q -o "$tmp/inlined" -n 'pid$target:a.out:ns::conn::conn:inline-entry,
    pid$target:a.out:conn:inline-entry,
    pid$target:a.out:"*conn(int)":inline-entry,pid$target:a.out:_ZN2ns4connC*:inline-entry {
	printf("%s %d\n", probefunc, local`f); }' -c "$bin/linescc-o2"
is "C++: a copy's names" "$(grep -c '^ns::conn::conn 7$' "$tmp/inlined")" 4
# One name, two types.
dt -x errtags -n 'pid$target:a.out:linescc.cc@'"$(at ADD)"': {
    trace(local`both); }' -c "$bin/linescc-o0"
is "two types: status" "$status" 1
has "$tmp/err" '\[D_IDENT_UNDEF\].*different types at the places'
src=t/e2e/src/lines.c

# What is not there, and why.
while IFS='|' read -r how desc expr tag text; do
	dt -x errtags -n 'pid$target:'"$desc"' { trace('"$expr"'); }' \
	    -c "$bin/$how"
	is "$desc $expr: status" "$status" 1
	has "$tmp/err" "\\[$tag\\].*$text"
done <<END
lines-o2|a.out:lines.c@2:|1|D_PROC_LINE|no code begins at line 2 of 'lines.c': the nearest is [0-9]
lines-o0|a.out:lines.c@$(($(at WIDE) + 2)):|1|D_PROC_LINE|the nearest are [0-9]* and [0-9]*\$
lines-o2|a.out:lines.c@9999:|1|D_PROC_LINE|no code begins at line 9999 of 'lines.c': the nearest is
lines-o2|a.out:other.c@12:|1|D_PROC_LINE|no code of 'a.out' was made of a file 'other.c'
lines-o2|a.out:dir/lines.c@12:|1|D_PROC_LINE|made of a file 'dir/lines.c'
lines-o2|a.out:lines.c@9-3:|1|D_PROC_LINE|is not a line of the source
lines-o2|a.out:lines.c@5x:|1|D_PROC_LINE|is not a line of the source
lines-o2|a.out:lines.c@0:|1|D_PROC_LINE|is not a line of the source
lines-o2|a.out:lines.c@12:entry|1|D_PROC_NAME|entry is not a probe of a line
shape-stripped|a.out:shape.c@12:|1|D_PROC_LINE|there is no debug information of 'a.out'
shape-stripped|a.out:main:inline-entry|1|D_PROC_FUNC|there is no debug information
lines-o2|a.out:walk:inline-entry|1|D_PROC_FUNC|no function 'walk' is inlined in 'a.out'
lines-o2|a.out:twice:inline|1|D_PROC_NAME|inline is not a probe of an inlined function
lines-o2|a.out:lines.c@$(at FLOATS):|local\`real|D_IDENT_UNDEF|It is in a vector register
lines-o2|a.out:lines.c@$(at GONE):|local\`lost|D_IDENT_UNDEF|Only its value at the entry of the function is known
lines-o2|a.out:lines.c@$(at TWICE):|&local\`result|D_IDENT_UNDEF|It is in a register
lines-o2|a.out:lines.c@$(at TWICE):|local\`nosuch|D_IDENT_UNDEF|No variable of that name is in scope
lines-o2|a.out:lines.c@$(at TWICE):|++local\`result|D_OP_WRITE|writable
shape-stripped|a.out:main:entry|local\`argc|D_IDENT_UNDEF|No debug information covers
END
}
finish
