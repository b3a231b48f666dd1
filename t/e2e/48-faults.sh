#!/bin/bash
# timeout: 900
# shellcheck disable=SC2317 # attached() and launched() are called by name
# Out of memory, of slots, of memory near the text, of descriptors; system calls
# in the target that fail: at the first, the second, ... of each, dtrap says
# what is wrong or does without, and the target lives on with its own text.
# TORTURE=1 goes through them one by one.
. "${0%/*}/lib.sh"
need_attach
[ -z "${TORTURE:-}" ] || echo "in the long form"

# A core file for every abort would fill the disk.
ulimit -c 0

start t "$bin/hotcool"
line t ready
text_of "${pid[t]}" >"$tmp/before"

# shellcheck disable=SC2016
script='pid$target:a.out:hot:entry { @[ustack(5)] = count(); }
    pid$target:a.out:hot:return { @r = quantize(arg1); }
    pid$target:a.out:cool:entry { @c = count(); }
    syscall::getppid:entry { self->t = timestamp; }
    pid$target:a.out:hot:entry /n++ > 20/ { printf("%s\n", execname); exit(0); }'

# said WHAT: how dtrap may end, and that it says why.
said() {
	case $status in
	0) ;;
	1 | 134) [ -s "$tmp/err" ] || wrong "$1: status $status without a word" ;;
	*) wrong "$1: status $status" ;;
	esac
	hasnt "$tmp/err" 'internal error'
}

# attached WHAT COMMAND...: it traces the target of -p for a while.
attached() {
	local what=$1
	shift
	timeout -k 5 60 "$@" -q -n "$script" -p "${pid[t]}" \
	    >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	said "$what, -p"
	alive t
	is "$what, -p: tracer" "$(tracer "${pid[t]}")" 0
	text_of "${pid[t]}" >"$tmp/after"
	# Who leaves in a hurry leaves the slots, as some thread may be in one;
	# the next one takes them away.
	sed -i '/(anonymous)/d' "$tmp/before" "$tmp/after"
	sort -o "$tmp/before" "$tmp/before"
	sort -o "$tmp/after" "$tmp/after"
	same "$what, -p: text" "$tmp/before" "$tmp/after"
	tell t 'spin 10'
	line t '^spun'
}

# launched WHAT COMMAND...: the same with -c.  What has begun ends: its output
# is read to the end, after dtrap's own, if need be.
launched() {
	local what=$1
	shift
	all=$(timeout -k 5 60 "$@" -q -o "$tmp/out" -n "$script" \
	    -c "$(quote "$bin/hotcool" 100 3)" 2>"$tmp/err" </dev/null
	    echo "status $?")
	status=$(sed -n 's/^status //p' <<<"$all")
	said "$what, -c"
	! grep -q '^begun' <<<"$all" || grep -q '^ended' <<<"$all" ||
	    wrong "$what, -c: begun, and not ended"
}

# run HOW KNOB N: false when there were not so many.
run() {
	$1 "$2:$3" env DTRAP_DEBUG=fault DTRAP_FAIL="$2:$3" "$DTRAP"
	grep -q '^fault DEBUG' "$tmp/err"
}

# from HOW KNOB: 1, 2, 3 ... as long as there are so many; in the short form a
# fifth more each time.
from() {
	local how=$1 knob=$2 n=1 runs=0
	while run "$how" "$knob" $n; do
		runs=$((runs + 1))
		if [ -n "${TORTURE:-}" ] && [ "$knob" != alloc ]; then
			n=$((n + 1))
		elif [ -n "${TORTURE:-}" ]; then
			n=$((n + 1 + n / 100))
		else
			n=$((n + 1 + n * ${3:-1} / 2))
		fi
	done
	echo "$how $knob: $runs faults, up to $n"
	[ $runs -gt 0 ] || wrong "$how $knob: none"
}

for how in attached launched; do
	from $how alloc
	from $how slot 0
	from $how map 0
	from $how remote 0
done

# Descriptors.  Three are its standard files.
fds() {
	local how=$1 n=4
	# shellcheck disable=SC2016 # $@ is for the inner shell
	until $how "descriptors:$n" bash -c 'ulimit -n $1; shift; exec "$@"' - \
	    $n "$DTRAP" && [ "$status" = 0 ]; do
		has "$tmp/err" ' more files can be opened'
		n=$((n + 1))
		[ $n -lt 60 ] || break
	done
	echo "$how: enough with $n descriptors"
	[ $n -lt 60 ] || wrong "$how: no number of descriptors is enough"
}
fds attached
fds launched

# Each process that is followed takes one: those for whom there was none left
# get their own text back, too, when they are let go.
# shellcheck disable=SC2016
children=$(ulimit -n 30; timeout 60 "$DTRAP" -q -o "$tmp/out" \
    -n 'pid$target:a.out:cool:entry { @ = count(); }' \
    -n 'pid$target:a.out:hot:entry { exit(0); }' \
    -c "$(quote "$bin/hotcool" forks 50)" 2>"$tmp/err")
is "children: status" "$?" 0
is "children" "$children" '50 came back'
finish
