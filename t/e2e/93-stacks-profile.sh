#!/bin/bash
# timeout: 480
# Where the time goes: of a program that says so itself, and as perf sees it;
# and of a busy redis-server, beside perf.
# shellcheck disable=SC2016 # D, not shell
. "${0%/*}/lib.sh"
each_sampling
cc=${CC:-cc}
need "$cc"
need_attach

# Three standard deviations of 2,000 samples are 3.4; the rest is what other work on
# the machine adds.
NEAR=9

# near WHAT GOT EXPECTED: in percent.
near() {
	awk -v a="$2" -v b="$3" -v n=$NEAR \
	    'BEGIN { d = a - b; exit !(d <= n && d >= -n) }' ||
	    wrong "$1: $2 %, expected $3 %"
	echo "$1: $2 %, $3 %"
}

# share FILE NAME: of lines "COUNT NAME".
share() {
	awk -v f="$2" '{ n += $1; if ($2 == f) s += $1 }
	    END { printf "%.1f", n ? 100 * s / n : 0 }' "$1"
}

# perf_leaves PID: "COUNT NAME" of the innermost functions outside of the
# kernel, in "$tmp/perf"; false where perf does not work.
perf_leaves() {
	rm -f "$tmp/folded"
	perf record -q -e cpu-clock -F 997 -g -p "$1" -o "$tmp/perf.data" -- \
	    timeout 3 tail -f /dev/null >"$tmp/perf.log" 2>&1
	perf script -i "$tmp/perf.data" -F ip,sym 2>"$tmp/perf.log" |
	    sed 's/^[ \t]*//; s/__GI_\(___*libc_\)*//; s/[[]/?/g' |
	    awk '/^$/ { if (leaf != "") print leaf; leaf = ""; next }
		leaf == "" && ! /^ffff/ { leaf = $2 }' |
	    sort | uniq -c | sort -rn >"$tmp/perf"
	[ "$(awk '{ n += $1 } END { print n + 0 }' "$tmp/perf")" -gt 300 ]
}

# leaves PID: the same as dtrap sees it, and whole stacks in "$tmp/folded".
leaves() {
	rm -f "$tmp/folded"
	dt -q -x stackformat=folded -o "$tmp/folded" -n '
	    profile-997 /pid == $target/ { @[ustack()] = count(); n++; }
	    profile-997 /n >= 2000/ { exit(0); }
	    BEGIN { n = 0; }' -p "$1"
	is "status" "$status" 0
	grep . "$tmp/folded" | sed 's/ \([0-9]*\)$/;\1/' | awk -F';' '{
	    sub(".*`", "", $(NF - 1)); print $NF, $(NF - 1) }' |
	    awk '{ n[$2] += $1 } END { for (f in n) print n[f], f }' |
	    sort -rn >"$tmp/dt"
}

for how in '-O2' '-O2 -static' '-O0'; do
	# shellcheck disable=SC2086 # options are words
	"$cc" $how -o "$tmp/shares" t/e2e/src/stacks/shares.c ||
	    fail "cannot compile"
	start_null shares "$tmp/shares"
	line shares ready
	leaves "${pid[shares]}"
	for f in half:50 third:30 fifth:20; do
		near "$how: ${f%:*}" "$(share "$tmp/dt" "${f%:*}")" "${f#*:}"
	done
	# Every stack is whole, and is one of three (or of one on its way).  Without
	# CAP_PERFMON interrupts and page faults have no place.
	is "$how: whole" "$(grep . "$tmp/folded" | grep -v '^\[kernel\] ' |
	    grep -vc '_start.*;shares`main\(;[^ ]*\)* [0-9]*$')" 0
	has "$tmp/folded" 'shares`main;shares`both;shares`half [0-9]+$'
	has "$tmp/folded" \
	    'shares`main;shares`both;(shares`deeper;){6}shares`third [0-9]+$'
	has "$tmp/folded" 'shares`main;shares`fifth [0-9]+$'
	if [ "$how" = -O2 ] && command -v perf >/dev/null; then
		if perf_leaves "${pid[shares]}"; then
			for f in half third fifth; do
				near "perf: $f" "$(share "$tmp/dt" $f)" \
				    "$(share "$tmp/perf" $f)"
			done
			perf=works
		else
			echo "perf does not work here: no comparison with it"
		fi
	fi
	kill -KILL "${pid[shares]}"
	end shares
done

# Of a stack of 100 KiB either all is seen, or a mark stands for the rest.  dtrap leaves
# the program running, so it ends by itself.
cat >"$tmp/deep.c" <<'END'
static volatile int n;
__attribute__((noinline)) void
down(int depth)
{
	volatile char room[400];

	room[0] = 1;
	if (depth > 0)
		down(depth - 1);
	else
		while (n < 2000000000)
			n++;
	room[1] = 1;
}

int
main(void)
{
	down(250);
	return n;
}
END
"$cc" -O1 -o "$tmp/deep" "$tmp/deep.c" || fail "cannot compile"
# shellcheck disable=SC2016
dt -q -v -x stackformat=folded -x ustackframes=500 -o "$tmp/folded" -n '
    profile-997 /pid == $target/ { @[ustack()] = count(); n++; }
    profile-997 /n >= 100/ { exit(0); } BEGIN { n = 0; }' -c "$tmp/deep"
is "deep: status" "$status" 0
grep -v '^\[kernel\] ' "$tmp/folded" | tail -n 1 >"$tmp/last"
if grep -q 'has stopped threads for its samples' "$tmp/err"; then
	has "$tmp/last" '_start.*;deep`main(;deep`down){251} [0-9]+$'
else
	has "$tmp/last" '^\[cut\](;deep`down){20,100} [0-9]+$'
fi
[ "${perf:-}" = works ] || finish
# What follows is in the kernel most of the time.
[ "$SAMPLING" != user ] || finish

# redis-server is in the kernel most of the time.  A sample that was due there
# is taken when the system call is over, and so is that of a moment before it:
# perf's shares are others.  What has a tenth of the time there is among the
# first here, and the other way round.
for c in redis-benchmark redis-check-rdb redis-cli; do
	command -v $c >/dev/null || {
		echo "$c is not installed: redis is left out"
		finish
	}
done
ln -s "$(command -v redis-check-rdb)" "$tmp/redis-server"
start_null redis "$tmp/redis-server" --port 0 --unixsocket "$tmp/sock" \
    --save '' --appendonly no --dir "$tmp" --daemonize no
line redis 'ready to accept connections'
start_null clients redis-benchmark -s "$tmp/sock" -q --csv -c 4 -l \
    -t set,get,lrange_100,mset
busy=0
until [ "${busy:-0}" -gt 5000 ]; do
	[ $SECONDS -lt 150 ] || fail "the clients do nothing"
	busy=$(timeout 20 redis-cli -s "$tmp/sock" info stats |
	    sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p')
done
perf_leaves "${pid[redis]}" || { echo "perf saw too little"; finish; }
leaves "${pid[redis]}"
head -n 10 "$tmp/perf" >"$tmp/perf.top"
head -n 10 "$tmp/dt" >"$tmp/dt.top"
paste "$tmp/perf.top" "$tmp/dt.top"
for pair in perf:dt dt:perf; do
	awk '{ n += $1; c[$2] = $1 }
	    END { for (f in c) if (c[f] > n / 10) print f }' \
	    "$tmp/${pair%:*}" >"$tmp/tenth"
	while read -r f; do
		awk '{ print $2 }' "$tmp/${pair#*:}.top" | grep -qxF "$f" ||
		    wrong "$f: a tenth by ${pair%:*}, not among ten by ${pair#*:}"
	done <"$tmp/tenth"
done
# No frame pointers there: by its unwind rules every stack is whole.
whole=$(grep . "$tmp/folded" | awk '{ n += $NF }
	/(_start|clone3?);/ { w += $NF } END { printf "%d", 100 * w / n }')
[ "$whole" -ge 98 ] || wrong "only $whole % of the stacks are whole"
finish
