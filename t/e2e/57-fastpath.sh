#!/bin/bash
# timeout: 600
# Option fastpath: the same answers as by trap, exact counts under signals, faults
# and forks, and nothing left by a tracer that is killed.
. "${0%/*}/lib.sh"
LIMIT=200
# More with more time.
ROUNDS=${ROUNDS:-8}

# Of what the run says: so many hits by jump, at least.
jumped() {
	local n
	n=$(sed -n 's/^dtrap: \([0-9]*\) hits by jump.*/\1/p' "$tmp/err")
	[ "${n:-0}" -ge "$1" ] || wrong "only ${n:-no} hits by jump"
}

# ---- exact counts ----

# shellcheck disable=SC2016
count='
	pid$target:a.out:entered:entry,pid$target:a.out:handled:entry,
	pid$target:a.out:left:return,pid$target:a.out:whole:return,
	pid$target:a.out:loaded:entry,pid$target:a.out:copied:entry {
		@[probefunc] = count();
	}
	END { printa("%s %@d\n", @); }'
# By default a process has jumps after 2,000 hits.
for how in '-xfastpath=on' '-xfastpath=on 200' '-q 200'; do
	read -r option signals <<<"$how"
	rm -f "$tmp/trace"
	dt -q -v -o "$tmp/trace" "$option" -n "$count" \
	    -c "$bin/fastpath 8 50000 $signals"
	is "status" "$status" 0
	has "$tmp/out" '^wrong 0$'
	grep -v '^wrong' "$tmp/out" | grep -v ' 0$' | sort >"$tmp/want"
	sort <"$tmp/trace" | grep '^[a-z]* [0-9]*$' >"$tmp/got"
	same "calls, with ${signals:-no} signals" "$tmp/want" "$tmp/got"
	# Of 1.2 million; how soon a jump that gave way is back depends on the load.
	jumped 300000
done

# ---- variables of a thread whose hits are by trap, and then by jump ----

# shellcheck disable=SC2016
dt -q -v -n 'self int n; pid$target:a.out:hot_push:entry {
    self->n += 1; @m = max(self->n); } END { printa("max %@d\n", @m); }' \
    -c "$bin/hot 100000 push"
has "$tmp/out" '^max 100000$'
jumped 1000
# The program that is executed gets them, in memory of its own.
# shellcheck disable=SC2016
dt -q -v -x fastpath=on -n 'self int n; pid$target::malloc:entry { self->n = 7; }
    proc:::exec-success { printf("has %d\n", self->n); }' \
    -c "sh -c 'echo \$(echo a); exec /bin/true'"
has "$tmp/out" '^has 7$'

# ---- by default, for few hits ----

start busy "$bin/busy" 4
line busy ready
# shellcheck disable=SC2016
start_dt dt -q -n 'pid$target:a.out:main:entry { @ = count(); }' \
    -n 'BEGIN { printf("armed\n"); }' -x switchrate=5ms -p "${pid[busy]}"
hasnt "/proc/${pid[busy]}/maps" dtrap-lanes
kill -INT "${pid[dt]}"
end dt
close_in busy
end busy
# ---- the vDSO, which gives a clause the time ----

# What only dtrap calls there is no hit.
# shellcheck disable=SC2016
dt -q -v -x fastpath=on -o "$tmp/trace" \
    -n 'pid$target:a.out:work:entry { trace(timestamp); calls++; }
    pid$target:*vdso*::entry { vdso++; }
    END { printf("\ncalls %d vdso %d\n", calls, vdso); }' -c "$bin/threads 800"
is "vDSO: status" "$status" 0
has "$tmp/trace" '^calls 800 vdso 0$'
# shellcheck disable=SC2016
dt -q -v -x fastpath=on -o "$tmp/trace" \
    -n 'pid$target:a.out:work:entry { trace(arg0); }
    pid$target:*vdso*::entry { @[probefunc] = count(); }
    END { printa("\nvdso %s %@d\n", @); }' -c "$bin/threads 800"
is "vDSO: status" "$status" 0
hasnt "$tmp/trace" '^vdso'
jumped 700

# ---- a process that may have little memory ----

# shellcheck disable=SC2016
dt -Z -q -v -x fastpath=on \
    -n 'pid$target:a.out:hot_push:entry { @ = count(); }' \
    -c "sh -c 'ulimit -v 300000; exec $bin/hot 100000 push'"
is "status" "$status" 0
is "calls" "$(awk 'NF == 1 { print $1 }' "$tmp/out")" 100000
jumped 90000

# ---- gs is the program's ----

# lanes HITS OPTION...: its calls are counted, but for those of its children.
lanes() {
	local calls=10000 want=$1
	shift
	rm -f "$tmp/trace"
	# shellcheck disable=SC2016 # $target is dtrap's
	dt -q -v -o "$tmp/trace" -x fastpath=on "$@" -n 'pid$target:a.out:counted:entry {
	    @ = count(); }' -c "$bin/lanes $calls"
	is "lanes $*: status" "$status" 0
	is "lanes $*" "$(cat "$tmp/out")" "calls $((calls * all + 10)) wrong 0"
	is "counts of lanes $*" "$(tr -dc '0-9\n' <"$tmp/trace" | grep .)" \
	    $((calls * want + 10))
	# Before the first change, and with two threads.
	jumped $((calls * 6))
}

# All that it calls, and without its children.  It says what it does by instruction
# where the processor lets it.
all=$("$bin/lanes" 1)
all=${all#calls } all=$((${all%% *} - 10))
lanes "$all"
lanes $((all - 8)) -x follow=none

# ---- threads that no tracer hears of ----

# By jump they are not counted, and do no harm.
rm -f "$tmp/trace"
# shellcheck disable=SC2016 # $target is dtrap's
dt -q -v -o "$tmp/trace" -x fastpath=on -n 'pid$target:a.out:counted:entry {
    @ = count(); }' -c "$bin/untraced 20000 bare thread process copy bare"
is "untraced: status" "$status" 0
is "untraced" "$(cat "$tmp/out")" "calls 220000 wrong 0"
is "counts of untraced" "$(tr -dc '0-9\n' <"$tmp/trace" | grep .)" 220000
jumped 219990

# By trap the program goes on, too, and the user is told.
for form in bare thread process; do
	rm -f "$tmp/trace"
	# shellcheck disable=SC2016 # $target is dtrap's
	dt -q -o "$tmp/trace" -x fastpath=off -n 'pid$target:a.out:counted:entry {
	    @ = count(); }' -c "$bin/untraced 3000 $form"
	is "$form, by trap: status" "$status" 0
	is "$form, by trap" "$(cat "$tmp/out")" "calls 9000 wrong 0"
	has "$tmp/err" 'a thread that dtrap cannot trace .* has reached a breakpoint'
	is "said once" "$(grep -c CLONE_UNTRACED "$tmp/err")" 1
done

# The same by a body of several clauses, and by the VM where it cannot be made.
# shellcheck disable=SC2016
body='
	pid$target:a.out:entered:entry /arg0 >= 0 || arg0 < 0/ {
		@[tid] = count(); }
	pid$target:a.out:entered:entry { self->n = arg0 + 1; }
	pid$target:a.out:entered:entry /self->n == arg0 + 1/ {
		@again[probefunc] = count(); }
	END { printa("entered %@d\n", @); printa("again %@d\n", @again); }'
for fail in "" jit:6; do
	for signals in "" 200; do
		rm -f "$tmp/trace"
		export DTRAP_DEBUG=jit,fault DTRAP_FAIL="$fail"
		dt -q -v -o "$tmp/trace" -x fastpath=on -x aggrate=5ms \
		    -n "$body" -c "$bin/fastpath 8 50000 $signals"
		unset DTRAP_DEBUG DTRAP_FAIL
		is "status" "$status" 0
		has "$tmp/out" '^wrong 0$'
		want=$(sed -n 's/^entered //p' "$tmp/out")
		got=$(awk '/^entered/ { n += $2 } END { print n }' "$tmp/trace")
		is "calls by a body (${fail:-made}, ${signals:-no} signals)" \
		    "$got" "$want"
		has "$tmp/trace" "^again $want\$"
		case $fail in
		"") has "$tmp/err" 'body of 3 clauses: [1-9]' ;;
		*) has "$tmp/err" 'body of 3 clauses: 0 bytes' ;;
		esac
		jumped 90000
	done
done

# ---- both ways alike ----

# fast WAY ARG...: by trap (off), by jump and the interpreter (vm), by jump and
# machine code (on).
fast() {
	local way=$1
	shift
	case $way in
	vm) dt -q -v -x strsize=32 -x fastpath=on -x jit=off "$@" ;;
	*) dt -q -v -x strsize=32 -x fastpath="$way" "$@" ;;
	esac
}

# What clauses say of a run that is always the same.
alike() {
	local way
	for way in off vm on; do
		rm -f "$tmp/$way.trace"
		fast $way -o "$tmp/$way.trace" -n "$1" -c "$bin/threads 8000"
		is "$way: status" "$status" 0
		grep -v '^dtrap: ' "$tmp/$way.trace" | sort >"$tmp/$way"
	done
	[ -s "$tmp/off" ] || wrong "nothing from $1"
	same "$1" "$tmp/off" "$tmp/vm"
	same "$1, compiled" "$tmp/off" "$tmp/on"
}

# shellcheck disable=SC2016 # $target is dtrap's
{
	alike 'pid$target:a.out:work:entry { @ = count(); @s = sum(arg0); }'
	# Two clauses, two sites of one tracepoint, two probes of one clause.
	alike 'pid$target:a.out:work:entry { @ = count(); }
	    pid$target:a.out:work:entry /arg0 > 5/ { @s = sum(arg0); }'
	alike 'pid$target:a.out:work:entry { @ = count(); }
	    pid$target:a.out:work:0 { @s = sum(arg0); }'
	alike 'pid$target:a.out:work:entry,pid$target:a.out:work:return {
	    @n[probefunc, probename] = sum(arg0); @ = count(); }'
	alike 'pid$target:a.out:work:entry,pid$target:a.out:work:return {
	    @[probename] = sum(arg0); }'
	alike 'pid$target:a.out:work:entry { @[arg0 % 10] = count(); }'
	alike 'pid$target:a.out:work:entry { @m[probefunc, "x"] = max(arg0); }
	    pid$target:a.out:work:return { @c[probefunc, probename] = count(); }'
	alike 'pid$target:a.out:work:entry { @[probefunc, arg0 & 3] = max(arg0);
	    @m = min(arg0); @a = avg(arg0); @d = stddev(arg0); }'
	alike 'pid$target:a.out:work:entry { @ = quantize(arg0);
	    @l = lquantize(arg0, 0, 8000, 500); }'
	alike 'pid$target:a.out:work:entry /arg0 % 7 == 0/ {
	    printf("%d %s\n", arg0, probename); }'
	alike 'pid$target:a.out:work:entry { self->n++; self->last = arg0; }
	    pid$target:a.out:work:return /self->n % 100 == 0/ {
	    @[self->n, self->last != 0] = count(); }'
	alike 'pid$target:a.out:work:entry { this->x = arg0 * 2; }
	    pid$target:a.out:work:entry { @ = sum(this->x); }'
	alike 'pid$target:a.out:work:entry { self->a = arg0; this->b = self->a * 3;
	    @[this->b % 7, arg0 & 3] = sum(self->a); @m = max(this->b);
	    self->c = this->b % 2 ? self->a : 0; }
	    pid$target:a.out:work:return /self->c/ {
	    @q[self->c % 5, tid != 0] = quantize(self->c); self->c = 0; }'
	jumped 15992
	alike 'pid$target:a.out:work:entry /arg0 % 3 == 0/ {
	    printf("%d %x %d\n", arg0, arg0 * 3, (short)-arg0);
	    @[arg0 % 5] = count(); }'
	# More variables of threads than there is room for.
	alike '#pragma D option dynvarsize=4k
	    pid$target:a.out:work:entry { self->a = 1; self->b = arg0 % 3;
	    self->c = arg0 % 2; @[self->b, self->c] = sum(self->a); }'
	alike 'pid$target:a.out:work:return { @ = sum(arg1); }'
	# Actions that need the tracer, where a predicate inside is true.  The first
	# hit of each of the eight threads is by trap.
	alike 'int n; pid$target:a.out:work:entry /arg0 % 100 == 0/ {
	    n++; g[arg0 % 3] += arg0; @[arg0, ustackdepth > 1] = count(); }
	    END { printf("%d %d %d %d\n", n, g[0], g[1], g[2]); }'
	jumped 7992
	# All but those of first hits.
	has "$tmp/err" ' (7[2-9]|80) traps within hits by jump, for actions$'
	alike 'pid$target:a.out:work:entry { this->x = arg0; self->n++; }
	    pid$target:a.out:work:entry /this->x % 128 == 5/ {
	    s = speculation(); speculate(s); printf("%d\n", this->x);
	    this->x = 0; }
	    pid$target:a.out:work:entry /this->x == 0/ { @ = sum(self->n); }
	    pid$target:a.out:work:entry /arg0 % 256 == 5/ { commit(s); }
	    pid$target:a.out:work:entry /arg0 % 256 == 133/ { discard(s); }'
	jumped 7992
	alike 'pid$target:a.out:work:entry /arg0 % 1000 == 999/ {
	    printf("%d %d", probename == "entry", (int)(uregs[R_RDI] == arg0));
	    ustack(2); @[ustack(1)] = count(); n = 1 / (arg0 % 2000 - 999); }
	    ERROR { @e = count(); }'
	jumped 7992
	# The time, which the vDSO has without a system call where the TSC is
	# the clock.
	alike 'pid$target:a.out:work:entry { self->t = timestamp; }
	    pid$target:a.out:work:return /self->t != 0/ {
	    @[timestamp >= self->t, walltimestamp > 0] = count(); }'
	hasnt "$tmp/err" internal
	[ "$(cat /sys/devices/system/clocksource/*/current_clocksource)" != \
	    tsc ] || jumped 15992
	# What cannot be had inside goes by trap.
	alike 'int n; pid$target:a.out:work:entry { n++; }
	    END { printf("%d\n", n); }'
	alike 'pid$target:a.out:work:entry { @[ustackdepth > 1] = count(); }'
	alike 'pid$target:a.out:work:entry { @[arg0 / (arg0 % 2)] = count(); }
	    ERROR { @e = count(); }'
}

# ---- records ----

# More than there is room for until they are read: each is there, or a drop.
rm -f "$tmp/trace"
# shellcheck disable=SC2016 # $target is dtrap's
fast on -x bufsize=16k -o "$tmp/trace" -n 'pid$target:a.out:work:entry {
    printf("n %d\n", arg0); }' -c "$bin/threads 8000"
is "status" "$status" 0
drops=$(awk '/ drops? / { n += $2 } END { print n + 0 }' "$tmp/err")
is "records and drops" $(($(grep -c '^n [0-9]*$' "$tmp/trace") + drops)) 8000
[ "$drops" -gt 0 ] || wrong "no drops"

# ---- where functions lie in pieces, without symbols, with a table of them ----

for prog in split split-stripped; do
	for way in off on; do
		rm -f "$tmp/$way.trace"
		# shellcheck disable=SC2016
		dt -q -v -x fastpath=$way -o "$tmp/$way.trace" \
		    -n 'pid$target:a.out::entry,pid$target:a.out::return {
		        @[probefunc, probename] = count(); }
		    END { printa("%s %s %@d\n", @); }' -c "$bin/$prog"
		is "$prog, $way: status" "$status" 0
		grep -E ' (entry|return) [0-9]+$' "$tmp/$way.trace" |
		    sort >"$tmp/$way"
	done
	[ -s "$tmp/off" ] || wrong "nothing from $prog"
	same "calls in $prog" "$tmp/off" "$tmp/on"
	# Each hit by trap has its reason.
	is "$prog: hits by trap" "$(awk '/ hits by jump, / { all = $6 }
	    / places by / { for (i = 1; i < NF; i++)
	        if ($(i + 1) ~ /^hits/) n += $i }
	    END { print n - all }' "$tmp/err")" 0
	jumped 20
done

# ---- memory ----

# What can be read, memory that comes and goes, the code itself, bad addresses.
# (Addresses differ from run to run, but for their place in a page.)
memory() {
	local way
	for way in off vm on; do
		rm -f "$tmp/$way.trace"
		fast $way -o "$tmp/$way.trace" \
		    -n "$1 END { printa(@); } ERROR { @e[arg4, arg5 & 4095] = count(); }
		    END { printa(@e); }" -c "$bin/fastload"
		is "$way: status" "$status" 0
		is "$way: faults of the program" "$(cat "$tmp/out")" "wrong 0"
	done
	for way in off vm on; do
		grep -v '^dtrap' "$tmp/$way.trace" | sort >"$tmp/$way"
	done
	[ -s "$tmp/off" ] || wrong "nothing from $1"
	same "$1" "$tmp/off" "$tmp/vm"
	same "$1, compiled" "$tmp/off" "$tmp/on"
}

# shellcheck disable=SC2016 # $target is dtrap's
{
	memory 'pid$target:a.out:look:entry { @[copyinstr(arg0)] = count(); }'
	jumped 2000
	memory 'pid$target:a.out:look:entry {
		@[*(uint32_t *)copyin(arg0, 4), arg1 < 2] = count(); }'
	memory 'pid$target:a.out:look:entry /stringof(args[0]) == "a constant"/ {
		@[strlen(copyinstr(arg0 + 2))] = sum(arg1); }'
}

# ---- a clock that a thread may not read ----

# shellcheck disable=SC2016 # $target is dtrap's
timed='pid$target:a.out:timed:entry { this->before = timestamp; }
    pid$target:a.out:timed:entry /timestamp >= this->before/ {
	@["calls"] = count(); @[tid == pid ? "may" : "may not"] = count(); }'
for way in off vm on; do
	rm -f "$tmp/$way.trace"
	fast $way -o "$tmp/$way.trace" -n "$timed" -c "$bin/noclock 2000"
	is "$way: status" "$status" 0
	is "$way: faults of the program" "$(cat "$tmp/out")" "wrong 0"
	grep -v '^dtrap' "$tmp/$way.trace" | sort >"$tmp/$way"
done
has "$tmp/off" '^ *calls  *4000$'
has "$tmp/off" '^ *may not  *2000$'
same "times" "$tmp/off" "$tmp/vm"
same "times, compiled" "$tmp/off" "$tmp/on"

# ---- the time, beside that of the program ----

# At each call it is between the program's times, but for a microsecond, and no less
# than at the call before.
# shellcheck disable=SC2016 # $target is dtrap's
clocked='
	self uint64_t last;
	pid$target:a.out:before:entry /timestamp < self->last/ {
		@["back"] = count(); }
	pid$target:a.out:before:entry /timestamp + 1000 < arg0/ {
		@["early"] = count(); }
	pid$target:a.out:before:entry { self->last = timestamp; }
	pid$target:a.out:after:entry /self->last > arg0 + 1000/ {
		@["late"] = count(); }
	pid$target:a.out:after:entry { @["calls"] = count(); }'
for way in off vm on; do
	calls=300000
	[ $way != off ] || calls=3000
	rm -f "$tmp/$way.trace"
	fast $way -o "$tmp/$way.trace" -n "$clocked" -c "$bin/clocked $calls"
	is "$way: status" "$status" 0
	is "$way: times" "$(sed -n 's/^ *\([a-z]*\)  *\([0-9]*\)$/\1 \2/p' \
	    "$tmp/$way.trace")" "calls $calls"
done
jumped 590000

# ---- machine code ----

# What cannot be compiled is interpreted, and what is compiled is said.
# shellcheck disable=SC2016 # $target is dtrap's
some='pid$target:a.out:work:entry /arg0 % 3 == 1/ { @[arg0 % 10] = sum(arg0 + 7); }'
compiled() {
	rm -f "$tmp/on.trace"
	DTRAP_DEBUG=jit fast on -o "$tmp/on.trace" -n "$some" \
	    -c "$bin/threads 8000"
	sort "$tmp/on.trace" >"$tmp/on"
	has "$tmp/err" "$1"
}

compiled ' 3 DIFOs compiled to [0-9]* bytes, 0 not$'
cp "$tmp/on" "$tmp/want"
for n in 1 2 3; do
	DTRAP_FAIL=jit:$n compiled ' 2 DIFOs compiled to [0-9]* bytes, 1 not$'
	same "the DIFO $n is not compiled" "$tmp/want" "$tmp/on"
done

# -S prints it behind each instruction.
rm -f "$tmp/on.trace"
fast on -S -o "$tmp/on.trace" -n "$some" -c "$bin/threads 8000"
has "$tmp/err" '^DIFO in machine code, [0-9]* bytes$'
has "$tmp/err" ': mov rbx, rdi$'
has "$tmp/err" '^[0-9]*: [0-9a-f]* *srem '
has "$tmp/err" ': idiv rcx$'

# ---- detached, killed ----

# What a thread was in when a trace ended stays; a later trace unmaps it.
nothing_left() {
	local left
	for _ in 1 2 3 4 5; do
		left=$(grep -c '/memfd:dtrap' "/proc/${pid[busy]}/maps")
		[ "$left" != 0 ] || break
		dt -q -n 'BEGIN { exit(0); }' -p "${pid[busy]}"
	done
	is "mappings left" "$left" 0
}

# shellcheck disable=SC2016
d='pid$target:a.out:work*:entry,pid$target:a.out:work*:return,
    pid$target:libc:malloc:,pid$target:libc:memcpy:entry { @ = count(); }'
start busy "$bin/busy" 4
line busy ready
for i in $(seq "$ROUNDS"); do
	dt -q -x fastpath=on -n "$d" -n "tick-$((i * 20))ms { exit(0); }" \
	    -p "${pid[busy]}"
	is "round $i: status" "$status" 0
done
# Nothing of ours stays when no thread needs it.
nothing_left
for i in $(seq "$ROUNDS"); do
	start_null dt "$DTRAP" -q -x fastpath=on -x switchrate=10ms -n "$d" \
	    -n 'BEGIN { printf("armed\n"); }' -p "${pid[busy]}"
	line dt armed
	for _ in $(seq $((i * i * 20))); do :; done
	kill -KILL "${pid[dt]}"
	end dt
done
# At each step of its own, too; t/torture/kill.sh leaves these to us.
for step in fast-begin fast-file fast-closed fast-filled jumps-begin jump-raised \
    stubs-written fast-release fast-released; do
	DTRAP_KILL=$step:1 dt -q -x fastpath=on -n "$d" \
	    -n 'tick-50ms { exit(0); }' -p "${pid[busy]}"
	is "killed at $step: status" "$status" 137
	alive busy
done
dt -q -v -x fastpath=on -n "$d" -n 'tick-1s { exit(0); }' -p "${pid[busy]}"
is "after kills: status" "$status" 0
jumped 1
nothing_left
close_in busy
end busy
is "status of the target" "$status" 0
has "$tmp/busy.out" '^done wrong 0'
finish
