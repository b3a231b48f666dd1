#!/bin/bash
# Static probes: places, arguments and their types, semaphores, libraries.
. "${0%/*}/lib.sh"
need_attach

# shellcheck disable=SC2016
all='my-app$target:::plain { printf("plain in %s of %s\n", probefunc, probemod); }
my-app$target:::args {
	printf("args %d %s %s %d\n", args[0], stringof(args[1]), copyinstr(arg1),
	    arg2 != 0);
}
my-app$target:::mapped {
	printf("mapped %s %d %d %d\n", copyinstr(arg0), arg1, args[1], args[2]);
}
my-app$target:::un-watched { printf("watched %d %d\n", arg0, args[0]); }'

# Attached to: what is enabled is raised, and lowered at the end.
start app "$bin/usdt"
line app ready
tell app sem
line app sem
is "semaphore before" "$line" "sem 0"
start_dt dt -q -x follow=none -n "$all" -p "${pid[app]}"
tell app sem
line app sem
is "semaphore while traced" "$line" "sem 1"
tell app hit
line app 'hit 1'
tell app fork
line app child
is "semaphore of a child that is let go" "$line" "child 0"
tell app hit
line app 'hit 2'
kill -INT "${pid[dt]}"
end dt
is "status" "$status" 0
cat >"$tmp/want" <<'WANT'
armed
plain in hit of usdt
args 1 three three 1
mapped t1 1 1 1
watched -1 -1
plain in hit of usdt
plain in hit of usdt
args 2 three three 1
mapped t2 2 2 2
watched -2 -2
plain in hit of usdt
WANT
sed '/^$/d' "$tmp/dt.out" >"$tmp/seen"
same "probes of a running program" "$tmp/want" "$tmp/seen"
tell app sem
line app sem
is "semaphore afterwards" "$line" "sem 0"

# Lowered as well when dtrap dies, and the program lives on.
start_dt dt -q -n "$all" -p "${pid[app]}"
tell app sem
line app sem
is "semaphore while traced again" "$line" "sem 1"
kill -SEGV "${pid[dt]}"
end dt
tell app sem
line app sem
is "semaphore after a crash" "$line" "sem 0"
tell app hit
line app 'hit 3'

# Only what is enabled is raised.
# shellcheck disable=SC2016
start_dt dt -q -n 'my-app$target:::plain { }' -p "${pid[app]}"
tell app sem
line app sem
is "semaphore of another probe" "$line" "sem 0"
kill -INT "${pid[dt]}"
end dt

# Listed, with types; named by number, without -p; without a number.
dt -l -v -P "my-app${pid[app]}"
is "status of -l" "$status" 0
awk 'NF == 5 && $1 ~ /^[0-9]+$/ { print $2, $3, $4, $5 }
    /args\[|None/ { $1 = $1; print }' "$tmp/out" >"$tmp/seen"
cat >"$tmp/want" <<WANT
my-app${pid[app]} usdt hit plain
None
my-app${pid[app]} usdt hit args
args[0]: int
args[1]: string
args[2]: struct thing *
my-app${pid[app]} usdt hit mapped
args[0]: char *
args[1]: int
args[2]: int
my-app${pid[app]} usdt hit un-watched
args[0]: short
my-app${pid[app]} usdt hit never
None
WANT
same "list with types" "$tmp/want" "$tmp/seen"
dt -l -n 'my-app:::plain' -p "${pid[app]}"
has "$tmp/out" " my-app${pid[app]} +usdt +hit plain\$"
dt -l -p "${pid[app]}"
for n in plain args mapped un-watched never; do
	is "-l alone: $n" "$(grep -c " my-app.* $n\$" "$tmp/out")" 1
done
dt -l -n 'my-*:usdt:h*:*ai*' -p "${pid[app]}"
is "rows of a glob" "$(grep -c plain "$tmp/out")" 1

# A declaration of the type in D makes the pointer one to it.
cat >"$tmp/thing.d" <<'D'
struct thing { int number; char *text; };
my-app$target:::args { printf("%d %s\n", args[2]->number,
    copyinstr((uintptr_t)args[2]->text)); exit(0); }
D
start_dt dt -q -s "$tmp/thing.d" -p "${pid[app]}"
tell app hit
line app 'hit 4'
line dt '^1'
is "a member by the declared type" "$line" "13 t4"
end dt
close_in app
end app
is "status of the program" "$status" 0

# args[] of probes that differ are refused.
# shellcheck disable=SC2016
dt -x errtags -n 'my-app$target::: { trace(args[0]); }' -c "$bin/usdt"
is "status" "$status" 1
has "$tmp/err" D_ARGS_MULTI

# A library that comes and goes, twice; its semaphore is its own.
start app "$bin/usdt" "$bin/libusdt.so"
line app ready
# shellcheck disable=SC2016
start_dt dt -Z -q -n 'usdt_lib$target:libusdt.so:lib:call
	{ printf("call %d\n", arg0); }' -p "${pid[app]}"
for i in 1 2; do
	tell app load
	line app lib
	is "round $i: semaphore in the library" "$line" "lib 1"
done
kill -INT "${pid[dt]}"
end dt
is "calls in the library" "$(grep -c '^call 1000$' "$tmp/dt.out")" 2
tell app load
line app lib
is "semaphore in the library afterwards" "$line" "lib 0"
close_in app
end app

# Every form of argument, and notes that lie.
# shellcheck disable=SC2016
dt -q -n 'forms$target:::parts { printf("parts %d %d %d %d %d %d %d %d %d %d\n",
	arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9); }
	forms$target:::constants { printf("constants %d %d %d %d %d %d\n",
	arg0, arg1, arg2, arg3, arg4, arg5); }
	forms$target:::memory { printf("memory %d %d %d %d %d\n",
	arg0, arg1, arg2, arg3, arg4); }
	forms$target:::symbols { printf("symbols %d %d %d %d %d\n",
	arg0, arg1, arg2, arg3, arg4); }
	forms$target:::odd { printf("odd %d %d\n", arg6, arg8); }
	forms$target:::odd { printf("never %d\n", arg0); }
	forms$target:::odd { printf("never %d\n", arg2); }
	forms$target:::odd { printf("never %d\n", arg7); }
	forms$target:::twin { printf("twin %d\n", arg0); }
	forms$target:::nowhere { printf("never\n"); }
	forms$target:::liar { printf("liar %d\n", arg0); }
	ERROR { errors++; }
	END { printf("%d errors\n", errors); }' -Z -c "$bin/usdtforms"
is "status" "$status" 0
cat >"$tmp/want" <<'WANT'
parts 1234605616436512648 1432782728 3437096703 34696 -30840 136 135 -121 -16 -1
constants -1 4294967295 42 16 7 -56
memory 100 200 -300 400 200
symbols 100 200 200 -300 200
odd -16 0
twin 2
twin 3
liar 3
3 errors
WANT
sed '/^$/d' "$tmp/out" >"$tmp/seen"
same "forms of arguments" "$tmp/want" "$tmp/seen"

# C++: types as the compiler has them, strings as they are at the probe.
dt -q -n 'my-app*:::mapped { printf("%s %d\n", copyinstr(arg0), arg1); }' \
    -c "$bin/usdtcc"
is "status" "$status" 0
printf '%s\n' 'v1 1' 'v-2 -2' 'v255 255' 'v1 1' 'v-7 -7' 'buy 5' >"$tmp/want"
sed '/^$/d' "$tmp/out" | grep -v '^x$' >"$tmp/seen"
same "probes in C++" "$tmp/want" "$tmp/seen"
dt -q -n 'my-app*::shop::buy:mapped, my-app*::"shop::buy(int)":mapped,
    my-app*::_ZN4shopL3buyEi:mapped { printf("%s\n", probefunc); }' \
    -c "$bin/usdtcc"
is "functions in C++" "$(grep -c '^shop::buy$' "$tmp/out")" 3

# With option fastpath the nop of our macros has a jump, and one of one byte works as
# without.
# shellcheck disable=SC2016
d='my-app$target:::plain,my-app$target:::args { @[probename, arg0] = count(); }
    END { printa("%s %d %@d\n", @); }'
start app "$bin/usdt"
line app ready
start_dt dt -q -v -x fastpath=on -n "$d" -p "${pid[app]}"
tell app hit
line app 'hit 1'
tell app hit
line app 'hit 2'
kill -INT "${pid[dt]}"
end dt
is "by jump: status" "$status" 0
has "$tmp/dt.err" '^dtrap: 3 places by jump, '
hasnt "$tmp/dt.err" 'places by trap'
printf '%s\n' 'args 1 1' 'args 2 1' 'plain 0 4' >"$tmp/want"
grep -E '^(args|plain) ' "$tmp/dt.out" | sort >"$tmp/seen"
same "hits by jump" "$tmp/want" "$tmp/seen"
close_in app
end app
is "usdt: status" "$status" 0
# shellcheck disable=SC2016
d='hot$target:::here { @ = count(); @s = sum(arg0); }'
for way in off on; do
	dt -q -x fastpath=$way -n "$d" -c "$bin/hot 1000 sdt"
	is "one byte, $way: status" "$status" 0
	grep -E '^ *[0-9]+$' "$tmp/out" >"$tmp/one.$way"
done
has "$tmp/one.off" '^ *1000$'
same "a nop of one byte" "$tmp/one.off" "$tmp/one.on"

finish
