#!/bin/bash
# What D says of stacks, in the programs of 90-stacks.sh: how many frames, the
# caller, names in all their forms, in clauses of other providers.
# shellcheck disable=SC2016 # D, not shell
. "${0%/*}/lib.sh"
cc=${CC:-cc}
need "$cc"
"$cc" -O2 -w -fno-optimize-sibling-calls -o "$tmp/stacks" \
    t/e2e/src/stacks/stacks.c -pthread || fail "cannot compile"
here='pid$target:a.out:here:entry'

# The depth is the number of frames, the caller the second one; in handlers on
# both stacks, in coroutines and threads, below a call of nothing.
dt -q -x stackindent=0 -o "$tmp/all" -n "$here"'
	{ printf("depth %d caller %A\n", ustackdepth, ucaller); ustack(); }' \
    -c "$tmp/stacks"
is "status" "$status" 0
awk '/^depth/ { if (want && n != want) bad = bad " " want "/" n
	want = $2; caller = $4; n = 0; next }
    NF { n++; if (n == 2 && $0 != caller) bad = bad " " caller "/" $0 }
    END { if (n != want) bad = bad " " want "/" n
	print "bad:" bad; print NR > "/dev/stderr" }' "$tmp/all" \
    >"$tmp/bad" 2>"$tmp/lines"
is "depths and callers" "$(cat "$tmp/bad")" 'bad:'
[ "$(cat "$tmp/lines")" -gt 100 ] || wrong "only $(cat "$tmp/lines") lines"

# Cut by the action, by options, and never more than 512.
frames() {
	rm -f "$tmp/cut"
	dt -q -o "$tmp/cut" "$@" -c "$tmp/stacks recursion"
	grep -c . "$tmp/cut"
}
is "ustack(3)" "$(frames -n "$here { ustack(3); }")" 3
is "ustack(7, 500)" "$(frames -n "$here { ustack(7, 500); }")" 7
is "ustackframes" "$(frames -x ustackframes=9 -n "$here { ustack(); }")" 9
# here, plain, 41 times deep, recursion, main and what called it.
whole=$(frames -x ustackframes=200 -n "$here { ustack(); }")
[[ $whole = 4[89] || $whole = 50 ]] || wrong "$whole frames of 48"
has "$tmp/cut" 'stacks.recursion\+0x'
sed 's/deep(40)/deep(900)/' t/e2e/src/stacks/stacks.c >"$tmp/far.c"
"$cc" -O2 -w -fno-optimize-sibling-calls -o "$tmp/stacks" "$tmp/far.c" \
    -pthread || fail "cannot compile"
is "512" "$(frames -x ustackframes=2000 -n "$here { ustack(); }")" 512
rm -f "$tmp/cut"
dt -q -o "$tmp/cut" -n "$here"' { printf("%d", ustackdepth); }' \
    -c "$tmp/stacks recursion"
is "ustackdepth" "$(cat "$tmp/cut")" 512

# Names, as values, keys and in printf, of an address in a handler's caller.
rm -f "$tmp/names"
dt -q -o "$tmp/names" -n "$here"' {
	printf("%A|%a|", ucaller, ucaller);
	ufunc(ucaller); usym(ucaller); umod(ucaller);
	@[ufunc(ucaller), usym(ucaller), umod(ucaller)] = count();
	@a[uaddr(ucaller)] = count();
	printf("\n"); }' -c "$tmp/stacks raised"
has "$tmp/names" '^stacks.handler\+0x[0-9a-f]+\|stacks.handler\+0x[0-9a-f]+\|.*stacks.handler .*stacks.handler .*stacks *$'
has "$tmp/names" '^ +stacks.handler +stacks.handler +stacks +1$'
has "$tmp/names" '^ +stacks.handler\+0x[0-9a-f]+ +1$'

# In clauses of others: the pc itself may be 0.
rm -f "$tmp/others"
dt -q -x stackformat=folded -o "$tmp/others" -n '
	proc:::fault { @[probename, ustack()] = count(); }
	proc:::signal-handle /args[0] == SIGSEGV/ { @[probename, ustack(2)] = count(); }
	syscall::exit_group:entry { @[probefunc, ustack(2)] = count(); }' \
    -c "$tmp/stacks nowhere"
has "$tmp/others" 'stacks.main;stacks.nowhere fault 1$'
has "$tmp/others" 'libc.so.6.[_A-Za-z0-9]*;libc.so.6._[Ee]xit exit_group 1$'
finish
