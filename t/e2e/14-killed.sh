#!/bin/bash
# timeout: 600
# A child that is sent a signal, by whomever, at once or as soon as it has
# executed a program, ends by it as untraced; also where the tracer makes system
# calls in it meanwhile.
. "${0%/*}/lib.sh"

# every SCRIPT COMMAND...: what it writes is as untraced.
every() {
	local script=$1
	shift
	"$@" >"$tmp/plain" 2>"$tmp/plain.err" </dev/null
	is "$1, untraced: status" "$?" 0
	timeout -k 5 "${LIMIT:-120}" "$DTRAP" -Z -o "$tmp/dt.out" \
	    -n "$script { @ = count(); }" -c "$(quote "$@")" \
	    >"$tmp/traced" 2>"$tmp/dt.err" </dev/null
	is "$1 under $script: status of dtrap" "$?" 0
	[[ $script != pid* ]] || sed -i -E "$may_be_dropped" "$tmp/plain" "$tmp/traced"
	same "$1 under $script" "$tmp/plain" "$tmp/traced"
	[ -s "$tmp/plain" ] || wrong "$1 says nothing"
}

# The kernel drops a SIGTRAP that tgkill() sends while that of an int3 is under way
# in the thread (doc/safety.md).
may_be_dropped='/^(at once|forked|executed) tgkill 5: /d'

# shellcheck disable=SC2016 # $target is dtrap's
for s in BEGIN profile-97 profile-997 proc::: syscall:::entry \
    'pid$target:libc:*fork*:,pid$target:a.out:obey:'; do
	every "$s" "$bin/sigtable" deaths
done
finish
