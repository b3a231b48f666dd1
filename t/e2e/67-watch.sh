#!/bin/bash
# timeout: 300
# The watch provider: who writes a variable, or reads it, with the values before and
# after; in new threads and followed children; and the program lives on whenever
# dtrap ends.
. "${0%/*}/lib.sh"
watched=$bin/watched

# Are there such registers here?
# shellcheck disable=SC2016 # $target is dtrap's
dt -q -n 'watch$target:a.out:counter:write { exit(0); }' -c "$watched" </dev/null
grep -q 'kernel or machine have no watches' "$tmp/err" &&
    skip 'no watches on this machine'
grep -q 'perf events are forbidden' "$tmp/err" &&
    skip 'perf events are forbidden'

# traced ARGUMENTS: with the script in $d; what it prints is in "$tmp/trace".
traced() {
	rm -f "$tmp/trace"
	start dt "$DTRAP" -q -o "$tmp/trace" -n "$d" -c "$watched $*"
	line dt ready
	tell dt go
	end dt
	is "$*: status" "$status" 0
	sed -i '/^$/d' "$tmp/trace"
}

# shellcheck disable=SC2016
count='watch$target:a.out:counter:write'

# ---- values, and where ----

# shellcheck disable=SC2016
d=$count'{ printf("%d: %d -> %d %s\n", tid == pid, arg0, arg1, probefunc);
	ustack(2); }
    watch$target:a.out:small:write { printf("small %d %d\n", (int)arg0, (int)arg1); }'
traced threads 2
cat >"$tmp/want" <<'END'
1: 0 -> 1 counter
watched`add watched`main
small 0 -5
0: 1 -> 2 counter
watched`add watched`thread
0: 2 -> 3 counter
watched`add watched`thread
0: 3 -> 4 counter
watched`add watched`thread
0: 4 -> 5 counter
watched`add watched`thread
END
awk '/`/ { sub(/\+.*/, "", $1); printf("%s%s", $1, ++n % 2 ? " " : "\n"); next }
    NF > 0' "$tmp/trace" >"$tmp/is"
same "the values" "$tmp/want" "$tmp/is"
has "$tmp/dt.out" '^end 5 -5 7$'

# Those that read it, and both at one address.
# shellcheck disable=SC2016
d=$count'{ @["write"] = count(); }
    watch$target::counter:access { @[arg0 == arg1 ? "read" : "written"] = count(); }
    END { printa("%s %@d\n", @); }'
traced read
sort "$tmp/trace" >"$tmp/is"
# add() reads and writes in one instruction; main() reads it at the end.
printf '%s\n' 'read 3' 'write 1' 'written 1' >"$tmp/want"
same "reads" "$tmp/want" "$tmp/is"

# All of many, in every thread.
d=$count'{ @n = count(); @s = sum(arg1 - arg0); } END { printa("%@d %@d\n", @n, @s); }'
traced threads 2000
has "$tmp/trace" '^4001 4001$'

# A child, which is followed, or not.
# shellcheck disable=SC2016
d=$count'{ printf("%d %d\n", pid == $target, arg1 - arg0); }'
traced fork
is "fork" "$(paste -sd, "$tmp/trace")" '1 1,0 100'
d='#pragma D option follow=none
'$d
traced fork
is "fork, not followed" "$(paste -sd, "$tmp/trace")" '1 1'

# Another program, in which the variable is somewhere else.
d=$count'{ printf("%d -> %d\n", arg0, arg1); }'
rm -f "$tmp/trace"
start dt "$DTRAP" -q -o "$tmp/trace" -n "$d" -c "$watched exec"
line dt ready
tell dt go
line dt ready
tell dt go
end dt
is "exec" "$(grep . "$tmp/trace" | paste -sd,)" '0 -> 1,0 -> 1'

# With SIGTRAP blocked: it is told how many are missing, or they are there.
d=$count'{ @ = count(); } END { printa("%@d\n", @); }'
traced blocked
has "$tmp/dt.out" '^end 4 -5 7$'
missing=$(sed -n 's/^dtrap: \([0-9]*\) accesses of counter were not reported.*/\1/p' \
    "$tmp/dt.err")
is "blocked: in all" $(($(cat "$tmp/trace") + ${missing:-0})) 4

# ---- by the function that has it, or its file ----

# shellcheck disable=SC2016
d='
watch$target:a.out:first`calls:write { printf("%s %d %d\n", probefunc, arg0, arg1); }
watch$target:a.out:second`calls:write { printf("%s %d %d\n", probefunc, arg0, arg1); }
watch$target:a.out:second`inside:write { printf("%s %d %d\n", probefunc, arg0, arg1); }
watch$target:a.out:third`calls:write { printf("%s %d %d\n", probefunc, arg0, arg1); }'
traced scoped
# The compiler chooses an order.
sort "$tmp/trace" >"$tmp/is"
cat >"$tmp/want" <<'END'
first`calls 0 1
first`calls 1 3
second`calls 0 10
second`inside 0 2
third`calls 0 100
END
same "of functions" "$tmp/want" "$tmp/is"
# shellcheck disable=SC2016
d='watch$target::set`small:write { printf("%d\n", (int)arg1); }'
traced read
is "of the file" "$(cat "$tmp/trace")" -5

# Of two files with a variable of one name.
for f in one two; do
	cat >"$tmp/$f.c" <<END
static int same;
__attribute__((noinline)) void $f(int n)
{
	same += n;
	__asm__ volatile("" :: "m"(same));
}
END
done
echo 'void one(int); void two(int); int main(void) { one(1); two(2); }' \
    >"$tmp/both.c"
"${CC:-cc}" -g -O2 -o "$tmp/both" "$tmp"/{one,two,both}.c || fail "cc"
for f in one:1 two:2; do
	# shellcheck disable=SC2016
	dt -q -n 'watch$target:a.out:'${f%:*}'`same:write { printf("%d\n", (int)arg1); }' \
	    -c "$tmp/both"
	is "of file $f" "$(grep . "$tmp/out")" "${f#*:}"
done

# ---- in frames ----

# The outermost call's; also what others write there by its address.
# shellcheck disable=SC2016
d='watch$target:a.out:framed`slot:write /tid == pid/ { printf("%d\n", arg1); }
    watch$target:a.out:framed`slot:write { @n = count(); }
    watch$target:a.out:framed`slot:write /arg1 == 10/ { @inner = count(); }
    watch$target:a.out:leaves`slot:write { printf("leaves %d\n", arg1); }
    END { printa("%@d %@d\n", @n, @inner); }'
traced frames 200
# 1 and 2 of the first call; 1 and 1 + 10 + 101 of the second; in threads 1 and
# 1 + 11.
printf '%s\n' 1 2 1 112 'leaves 5' '804 0' >"$tmp/want"
same "in frames" "$tmp/want" "$tmp/trace"
has "$tmp/dt.out" "^frames $((2 + 112 + 5 + 400 * 12))\$"

# Without optimisation every variable and parameter is there; clang counts from the
# frame pointer.
cat >"$tmp/plain.c" <<'END'
static int f(int n)
{
	char pad[5] = "pad";
	int x = n;

	x += pad[0];
	n = 2 * x;
	return n;
}
int main(void) { return f(1) + f(2) == 0; }
END
for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	$cc -g -O0 -o "$tmp/plain" "$tmp/plain.c" || fail "$cc"
	# shellcheck disable=SC2016
	dt -q -n 'watch$target:a.out:f`x:write,watch$target:a.out:f`n:write
	    { printf("%s %d\n", probefunc, (int)arg1); }' -c "$tmp/plain"
	# shellcheck disable=SC2016
	is "$cc -O0" "$(grep . "$tmp/out" | paste -sd,)" \
	    'f`n 1,f`x 1,f`x 113,f`n 226,f`n 2,f`x 2,f`x 114,f`n 228'
done

# ---- an address ----

start one "$watched" for ever
line one '^at'
at=${line#at }
line one '^ready'
start_dt dt -q -n "watch${pid[one]}::$at+2:write { printf(\"%x: %d -> %d\\n\", arg2, arg0, arg1); }" \
    -n 'BEGIN { printf("armed\n"); }' -x switchrate=5ms
tell one go
line one '^adds'
line dt '->'
is "an address" "$line" "${at#0x}: 0 -> 7"
kill -INT "${pid[dt]}"
end dt
is "an address: status" "$status" 0

# ---- ends ----

# It hits all the time: detached, killed, attached anew.
for i in 1 2 3 4 5 6; do
	start_dt dt -q -n "watch${pid[one]}::counter:write { @ = count(); }" \
	    -n "pid${pid[one]}:a.out:add:entry { @e = count(); }" \
	    -n 'BEGIN { printf("armed\n"); }' \
	    -n 'tick-20ms { printf("tick\n"); }' -x switchrate=5ms
	line dt tick
	if [ $((i % 2)) = 0 ]; then
		kill -KILL "${pid[dt]}"
		end dt
	else
		kill -INT "${pid[dt]}"
		end dt
		is "detach $i: status" "$status" 0
	fi
	kill -0 "${pid[one]}" || fail "it died in round $i"
done
tell one stop
line one '^end'
end one
is "the program's status" "$status" 0

# ---- mistakes ----

says() {
	# shellcheck disable=SC2016
	dt -q -n 'watch$target:'"$1 {}" -c "$watched"
	is "$1: status" "$status" 1
	has "$tmp/err" "$2"
}
says a.out:nothing:write "no variable 'nothing' in module a.out"
says a.out:own:write "thread-local"
says a.out:words:foo "write and access, not 'foo'"
says :0x12g:write 'is no address'
says :0x1234+3:write '1, 2, 4 or 8 aligned'
says :0x1234+8:write '1, 2, 4 or 8 aligned'
says '::write' 'one variable or address'
says 'a.out:first`nothing:write' 'cannot be watched: No variable of that name'
says 'a.out:first`n:write' 'each call of the function has its own'
says 'a.out:set`own:write' 'cannot be watched: Thread-local'
says 'a.out:none`calls:write' "no variable 'none\`calls' in module a.out"

# Five in one thread: a processor has four.
start one "$watched"
line one '^at'
at=$((${line#at }))
line one '^ready'
d=
for i in 0 2 4 6 8; do
	d+="watch${pid[one]}::$(printf '0x%x' $((at - 2 + i))):write {} "
done
start_dt dt -q -n "$d" -n 'BEGIN { printf("armed\n"); }' -x switchrate=5ms
kill -INT "${pid[dt]}"
end dt
has "$tmp/dt.err" 'does not watch thread [0-9]+: no debug register is left'
tell one go
end one
finish
