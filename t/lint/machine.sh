#!/bin/sh
# What a room does for one machine is in the folder of the machine there: no word
# of a machine stands in code elsewhere.
cd "$(dirname "$0")/../.." || exit 2
status=0
machines=$(cd disasm && echo */ | sed 's#/ *#|#g; s#|$##')
find dlang disasm symbols inject sdt tracer \
    \( -name '*.[chlyS]' -o -name '*.def' -o -name '*.ld' \) | sort |
    grep -Ev "/($machines)/" | xargs awk -f t/lint/machine.awk || status=1
# The rule itself: what must be found, is, and nothing else.
found=$(awk -f t/lint/machine.awk t/lint/machine.bad | cut -d: -f2 | tr '\n' ' ')
want=$(grep -n 'BAD' t/lint/machine.bad | cut -d: -f1 | tr '\n' ' ')
[ "$found" = "$want" ] || {
	echo "machine.awk finds lines $found of machine.bad, not $want"
	status=1
}
exit $status
