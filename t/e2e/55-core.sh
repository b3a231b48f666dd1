#!/bin/bash
# A core dump of a traced program has the program's own text, and threads are in it.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need_attach
need gdb perl
read -r pattern </proc/sys/kernel/core_pattern
case $pattern in
*[\|/%]*) skip "core dumps do not go to a file here: kernel.core_pattern" ;;
esac
ulimit -c unlimited 2>/dev/null || skip "core dumps are limited"
cd "$tmp" || fail "no directory"

# dumped WHAT: the text of work() and recurse() in the core that is here.
dumped() {
	set -- "$1" "$pattern"*
	[ -s "$2" ] || fail "$1: no core dump"
	gdb -nx -batch -ex 'x/60xb work' -ex 'x/60xb recurse' \
	    "$bin/busy" "$2" 2>/dev/null | grep '^0x.*:' |
	    sed 's/^[^<]*//' >"core.$1"
	[ -s "core.$1" ] || fail "$1: no text in the core dump"
	rm -f "$2"
}

for sig in SEGV ABRT TRAP; do
	for how in plain traced; do
		start busy "$bin/busy" 4
		line busy ready
		if [ $how = traced ]; then
			# shellcheck disable=SC2016
			start_dt dt -q -n 'pid$target:a.out:work:,
			    pid$target:a.out:recurse: { @ = count(); }' \
			    -p "${pid[busy]}"
		fi
		kill -$sig "${pid[busy]}"
		end busy
		is "$sig, $how: status" "$status" \
		    "$((128 + $(kill -l $sig)))"
		[ $how = plain ] || end dt
		dumped $how
	done
	same "$sig: text" core.plain core.traced
done

# A thread that sleeps in a slot is in the program's text in the dump: main() waits in
# read(), and the signal is another thread's.
# shellcheck disable=SC2016
for way in off on; do
	start busy "$bin/busy" 4
	line busy ready
	start_dt dt -q -x fastpath=$way -n 'pid$target:libc:*read: {
	    @ = count(); }' -p "${pid[busy]}"
	for _ in 1 2; do
		tell busy x
		line busy alive
	done
	for task in "/proc/${pid[busy]}/task/"*; do
		[ "${task##*/}" = "${pid[busy]}" ] || tid=${task##*/}
	done
	# tgkill(2)
	perl -e 'exit(syscall(234, $ARGV[0] + 0, $ARGV[1] + 0, 6) != 0)' \
	    "${pid[busy]}" "$tid" || fail "no signal for thread $tid"
	end busy
	is "fastpath=$way: status" "$status" 134
	end dt
	set -- "$pattern"*
	gdb -nx -batch -ex 'thread apply all backtrace' "$bin/busy" "$1" \
	    >stacks 2>/dev/null
	rm -f "$1"
	has stacks '^#0 .*read '
	hasnt stacks '^#0 .* in \?\?'
done
finish
