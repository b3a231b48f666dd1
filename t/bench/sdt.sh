#!/bin/bash
# What it costs a program to tell of something that nobody wants to know: a probe that
# it has made while it runs, beside one that was compiled in, and beside a line of a
# log whose level is off.  Then the same when somebody does.
. "${0%/*}/lib.sh"

logs=$PWD/$B/e2e/logs
# shellcheck disable=SC2016 # D
hit='logs$target:::told { @ = count(); }'
# shellcheck disable=SC2016 # D
text='logs$target:::told { @[args[0] & 7, copyinstr(arg1)] = count(); }'
declared='provider logs { probe told(int, string); };'

# off WHAT: ns for one.
off() {
	per_call "$logs" 20000000 "$1"
}

# watched D N OPTION...: the same while dtrap watches.
watched() {
	local d=$1 n=$2
	shift 2
	per_call "$DTRAP" "$@" -q -Z -n "$declared $d" -o /dev/null \
	    -c "$logs $n asked"
}

# The whole call, because what is added to it is less than a measurement can tell.
table 'ns a call that nobody watches' ''
row 'a call that does nothing' "$(off nothing)"
row 'libdtrap-sdt, asked' "$(off asked)"
row 'libdtrap-sdt, fired unasked' "$(off fired)"
row 'compiled in (sys/sdt.h)' "$(off compiled)"
row 'log line, level is off' "$(off level)"
row 'syslog(), level is off' "$(off syslog)"

table 'ns a call that is watched' ''
row 'dtrap, counted, by jump' "$(watched "$hit" 1000000 -x fastpath=on)"
row 'dtrap, counted, by trap' "$(watched "$hit" 50000 -x fastpath=off)"
row 'dtrap, text and number, by jump' "$(watched "$text" 1000000 -x fastpath=on)"
row 'dtrap, text and number, by trap' "$(watched "$text" 50000 -x fastpath=off)"
row 'log line to /dev/null' "$(per_call "$logs" 500000 written)"
