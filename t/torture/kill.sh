#!/bin/bash
# timeout: 7200
# kill.sh [COUNT [POINT]...]: SIGKILL of the tracer of a busy program, COUNT
# times (60, or 1000 with TORTURE): at each named step (fault_kill() in the
# sources), passed for the first, second, fifth... time, and the rest at some
# moment.  See killer.c for what must hold afterwards.  With POINTs, at these
# alone.  BLOCKED=1: threads of the program block every signal.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
DTRAP=${DTRAP:-$PWD/dtrap}
count=${1:-$([ -n "${TORTURE:-}" ] && echo 1000 || echo 60)}
[ $# = 0 ] || shift
bin=$PWD/${B#"$PWD/"}/e2e

# Points that this program does not come by: the unit tests of remote.c do,
# 49-launched-blocked.sh, and mixed.sh, in what another tracer has left, or with
# other programs.  57-fastpath.sh is killed at those of option fastpath: jumps stay
# in the text until the next trace, which killer.c would call wrong.
elsewhere='^(remote-(redo|inject)|leftover-(jumps|text|mended|boards)|go-on-(regs|mask|back)|follow-cleaned|trapcall|trapqueue-sent|signal-instead|stubs-written|boards-written|fast-.*|jumps?-.*)$'
if [ $# = 0 ]; then
	# shellcheck disable=SC2046
	set -- $(grep -rhoE 'fault_kill\("[a-z-]+"\)' --include='*.c' \
	    dlang inject symbols tracer | cut -d'"' -f2 | sort -u |
	    grep -vE "$elsewhere")
fi
[ $# -gt 0 ] || { echo "kill.sh: no points" >&2; exit 2; }

# Half of them at points; each at least once.
specs=()
for n in 1 2 5 3 20 60 8 200 1 4 13 33; do
	[ ${#specs[@]} -lt $((count / 2)) ] || break
	for point; do
		specs+=("$point:$n")
		# In a program that is just starting, stacks are shallow.
		[[ $point != remote-* ]] || specs+=("launch/$point:$n")
	done
done
left=$((count - ${#specs[@]}))
exec "$bin/killer" "$DTRAP" "$bin/victim" \
    $((left > 0 ? left : 0)) "${specs[@]}"
