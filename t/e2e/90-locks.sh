#!/bin/bash
# timeout: 300
# The plockstat provider sees every operation on every kind of lock, with its
# arguments, as the program itself says: with either C library, and in programs
# that have theirs inside.
. "${0%/*}/lib.sh"
LIMIT=100

# shellcheck disable=SC2016
P='plockstat$target:::'
# shellcheck disable=SC2016
clause() {
	local format=$1 probes=
	shift
	for p in "$@"; do
		probes="$probes${probes:+,}$P$p"
	done
	printf '%s /tid == pid/ { printf("+ %%s %%s %s\\n", probefunc, probename' \
	    "$probes" "$format"
	case $format in
	*' '*' '*) printf ', arg0, arg1, arg2); }\n' ;;
	*' '*) printf ', arg0, arg1); }\n' ;;
	*) printf ', arg0); }\n' ;;
	esac
}

{
	clause '%x' mutex-block cond-signal cond-broadcast sem-acquire \
	    sem-block sem-post
	clause '%x %d' mutex-blocked mutex-release mutex-error rw-acquire \
	    rw-block rw-release sem-blocked thread-join
	clause '%x %d %d' mutex-acquire rw-blocked rw-error
	clause '%x %x' cond-wait
	clause '%x %x %d' cond-waited
	clause '%x %x %x' thread-create
	# In the threads themselves.
	echo "${P}thread-start { @starts[arg0, arg1, arg2] = count(); }"
	echo "${P}thread-exit { @exits[arg0] = count(); }"
	cat <<'D'
END {
	printa("start %x %x %x %@d\n", @starts);
	printa("exit %x %@d\n", @exits);
}
D
} >"$tmp/locks.d"

for how in '' -static -musl -musl-static; do
	if [ ! -x "$bin/locks$how" ]; then
		echo "no locks$how: musl-gcc is not installed"
		continue
	fi
	rm -f "$tmp/trace"
	dt -q -s "$tmp/locks.d" -o "$tmp/trace" -c "$bin/locks$how"
	is "locks$how: status" "$status" 0
	grep '^+' "$tmp/out" >"$tmp/want"
	# The library and the run-time linker have locks of their own.
	awk 'NR == FNR { locks[$4]; next } $1 == "+" && $4 in locks' \
	    "$tmp/want" "$tmp/trace" >"$tmp/seen"
	same "locks$how" "$tmp/want" "$tmp/seen"
	# shellcheck disable=SC2046 # words
	set -- $(sed -n 's/^+ pthread_create thread-create //p' "$tmp/want")
	is "locks$how: thread-start" "$(grep '^start' "$tmp/trace")" \
	    "start $* 1"
	is "locks$how: thread-exit" "$(grep -c "^exit $1 1" "$tmp/trace")" 1
done

# Typed arguments; a glob for the process; one function of several.
# shellcheck disable=SC2016
dt -q -n 'plockstat*:libc*:pthread_mutex_timedlock:mutex-error
    { printf("typed %d %d\n", args[0] != NULL, args[1]); }
    plockstat$target::pthread_rwlock_tryrdlock:rw-acquire
    { @[probemod, probefunc] = count(); }
    END { printa("only %s %s %@d\n", @); }' -c "$bin/locks"
is "status" "$status" 0
is "typed" "$(grep '^typed' "$tmp/out")" 'typed 1 110'
is "one function" "$(grep '^only' "$tmp/out")" \
    'only libc.so.6 pthread_rwlock_tryrdlock 1'

# They are listed, and without a process there are none.
# shellcheck disable=SC2016
dt -l -n 'plockstat$target:::mutex-blocked' -c "$bin/locks"
is "functions that wait for mutexes" \
    "$(awk '$5 == "mutex-blocked" { print $4 }' "$tmp/out" | sort | tr '\n' ' ')" \
    'pthread_cond_clockwait pthread_cond_timedwait pthread_cond_wait pthread_mutex_clocklock pthread_mutex_lock pthread_mutex_timedlock '
dt -x errtags -n 'plockstat:::mutex-block'
has "$tmp/err" 'D_PROC_BADPROV'
dt -x errtags -n 'plockstat0:::mutex-block'
has "$tmp/err" 'D_PROC_BADPID'
finish
