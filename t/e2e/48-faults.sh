#!/bin/bash
# timeout: 2700
# shellcheck disable=SC2317 # attached() and launched() are called by name
# Out of memory, of slots, of memory near the text, of descriptors; system calls
# in the target that fail: at the first, the second, ... of each, dtrap says
# what is wrong or does without, and the target lives on with its own text.  The
# same when the way out meets a second fault, and for children.
# TORTURE=1 goes through them one by one.
. "${0%/*}/lib.sh"
need_attach
[ -z "${TORTURE:-}" ] || echo "in the long form"

# A core file for every abort would fill the disk.
ulimit -c 0

start t "$bin/hotcool"
line t ready
text_kept "${pid[t]}" >"$tmp/before"

# shellcheck disable=SC2016
few='pid$target:a.out:hot:entry { @[ustack(5)] = count(); }
    pid$target:a.out:hot:return { @r = quantize(arg1); }
    pid$target:a.out:cool:entry { @c = count(); }
    syscall::getppid:entry { self->t = timestamp; }
    pid$target:a.out:hot:entry /n++ > 20/ { printf("%s\n", execname); exit(0); }'
script=$few

# Of each provider one, and every instruction.
# shellcheck disable=SC2016
many='pid$target:a.out:hot: { @[probename] = count(); }
    pid$target:libc.so*:mem*:entry { @m = count(); }
    syscall:::entry { @s[probefunc] = count(); }
    proc::: { @p[probename] = count(); }
    profile-997 { @t[ustack()] = count(); }
    plockstat$target::: { @l = count(); }
    pid$target:a.out:hot:entry /n++ > 20/ { exit(0); }'

# For children.
# shellcheck disable=SC2016
family='pid$target:a.out:cool:entry { @ = count(); }
    pid$target:a.out:hot:entry { exit(0); }'

with=()

# said WHAT: how dtrap may end, and that it says why.
said() {
	case $status in
	0) ;;
	1 | 134) has "$tmp/err" '^dtrap: (out of memory|.* .* )' ;;
	*) wrong "$1: status $status" ;;
	esac
	hasnt "$tmp/err" 'internal error'
}

# own_text WHAT: the target has its own, as soon as dtrap has ended.  Where a
# step of the way out has failed, the guardian comes: WAIT is then set.
own_text() {
	local tries=${WAIT:+500}
	# Who leaves in a hurry leaves the slots, as some thread may be in one;
	# the next one takes them away.
	until text_kept "${pid[t]}" >"$tmp/after" &&
	    cmp -s "$tmp/before" "$tmp/after"; do
		tries=$((${tries:-1} - 1))
		[ "$tries" -gt 0 ] || break
	done
	same "$1: text" "$tmp/before" "$tmp/after"
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
	own_text "$what, -p"
	tell t 'spin 10'
	line t '^spun'
}

# runs D PROGRAM COMMAND...: it runs PROGRAM, whose output is read to the end,
# after dtrap's own, if need be, into `all'.
runs() {
	local d=$1 program=$2
	shift 2
	all=$(timeout -k 5 60 "$@" -q -o "$tmp/out" -n "$d" -c "$program" \
	    2>"$tmp/err" </dev/null
	    echo "status $?")
	status=$(sed -n 's/^status //p' <<<"$all")
}

# launched WHAT COMMAND...: the same with -c.  What has begun ends.
launched() {
	local what=$1
	shift
	runs "$script" "$(quote "$bin/hotcool" 100 3)" "$@"
	said "$what, -c"
	! grep -q '^begun' <<<"$all" || grep -q '^ended' <<<"$all" ||
	    wrong "$what, -c: begun, and not ended"
}

# forked WHAT COMMAND...: children that wait while their parent is traced, each
# with a copy of the int3s.  As soon as there are any, all come to their end.
forked() {
	local what=$1
	shift
	runs "$family" "$(quote "$bin/hotcool" forks 20)" "$@"
	said "$what, children"
	if grep -q '^20 came back' <<<"$all"; then
		came=1
	elif [ -n "$came" ] || [ "$all" != "status $status" ]; then
		wrong "$what, children: $all"
	fi
}

# run HOW KNOB N: false when there were not so many.  Without memory for the list
# of what is to be put back nothing is changed, unless one insists.
run() {
	local option=()
	[[ ${AND:-} != *map* ]] || option=(DTRACE_OPT_UNPROTECTED=1)
	$1 "$2:$3${AND:-}" "${with[@]}" env DTRAP_DEBUG=fault "${option[@]}" \
	    DTRAP_FAIL="$2:$3${AND:-}" "$DTRAP"
	grep -q "^fault DEBUG.* $2: this one" "$tmp/err"
}

# from HOW KNOB STEP [FIRST]: the first, and so on as long as there are so many;
# STEP is what is added, `half' half as much again each time.  In the long form
# one by one, or what LONG says.  Leaves the last one in $last.
from() {
	local how=$1 knob=$2 step=$3 n=${4:-1} runs=0 first
	last=0 first=$n
	while run "$how" "$knob" "$n"; do
		runs=$((runs + 1)) last=$n
		if [ -n "${TORTURE:-}" ]; then
			n=$((n + ${LONG:-1}))
		elif [ "$step" = half ]; then
			n=$((n + 1 + n / 2))
		else
			n=$((n + step))
		fi
	done
	echo "$how $knob${AND:-}: $runs faults, $first to $last"
	[ $runs -gt 0 ] || wrong "$how $knob: none"
}

for how in attached launched; do
	from $how alloc half
	late=$((last * 9 / 10))
	from $how slot 1
	from $how map 1
	from $how remote 1
	# Out of memory, and on the way out something worse.
	WAIT=1 AND=,alloc:$late from $how exit 1
	[ "$last" -ge 3 ] || wrong "the way out had $last steps"
	# Nothing in the target that helps: only the way out puts text back.
	LONG=5 AND=,map:1 from $how alloc half
done

script=$many
for how in attached launched; do
	LONG=11 AND=,map:1 from $how alloc half
done

# Descriptors, as many as the word behind this says.  Three are its standard files.
# shellcheck disable=SC2016 # for the inner shell
files=(bash -c 'ulimit -n $1; shift; exec "$@"' -)
script=$few
fds() {
	local how=$1
	enough=4
	until $how "descriptors:$enough" "${files[@]}" $enough "$DTRAP" &&
	    [ "$status" = 0 ]; do
		has "$tmp/err" ' more files can be opened'
		enough=$((enough + 1))
		[ $enough -lt 60 ] || break
	done
	echo "$how: enough with $enough descriptors"
	[ $enough -lt 60 ] || wrong "$how: no number of descriptors is enough"
}
fds attached
fds launched

# Children, also those that no descriptor was left for.
first=$((late * 3 / 4)) came=
LONG=3 AND=,map:1 from forked alloc 29 $first
with=("${files[@]}" $((enough + 1)))
first=$((late * 3 / 4)) came=
LONG=3 AND=,map:1 from forked alloc 29 $first
with=()

# back WHAT KIND N COMMAND...: N children of hotcool's, and all come back.
back() {
	local what=$1 kind=$2 n=$3
	shift 3
	runs "$family" "$(quote "$bin/hotcool" "$kind" "$n")" \
	    "${files[@]}" 30 "$@" "$DTRAP"
	# Who is let go may be the last to write.
	is "$what" "$(sort <<<"$all")" "$n came back"$'\n'"status 0"
}

# Each process that is followed takes one: those for whom there was none left
# get their own text back, too, when they are let go.
back children forks 50

# One that sleeps when it is let go writes nothing for us, and nothing in it helps.
back "children that sleep" sleepers 20 \
    env DTRACE_OPT_UNPROTECTED=1 DTRAP_FAIL=map:1
finish
