#!/bin/bash
# timeout: 3600
# dtrap is killed at random moments while a program writes a watched variable a few
# hundred thousand times a second, and breakpoints come and go as well: the program
# lives on.
# KILLS: how often (20).
. "${0%/*}/../e2e/lib.sh"
KILLS=${KILLS:-20}
RANDOM=${SEED:-1}

start one "$bin/watched" for ever
line one '^ready'
tell one go
line one '^adds'
p=${pid[one]}
for ((i = 1; i <= KILLS; i++)); do
	timeout -s KILL "$(printf '0.%03d' $((1 + RANDOM % 250)))" "$DTRAP" -q \
	    -n "watch$p::counter:write { @ = count(); }" \
	    -n "watch$p::counter:access { @a = count(); }" \
	    -n "pid$p:a.out:add: { @e = count(); }" \
	    </dev/null >"$tmp/out" 2>"$tmp/err"
	kill -0 "$p" || fail "kill $i: the program has ended"
done
tell one stop
line one '^end'
end one
is "the program's status" "$status" 0
finish
