#!/bin/bash
# A core dump of a traced program has the program's own text.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need_attach
need gdb
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
finish
