#!/bin/sh
# Where text for the user is put together, what is no text of ours goes through
# the door, tracer/consume/text.h: str_add(), str_addn() and each %s of
# str_printf() get literals, or say own().  writer.c has what came through it.
cd "$(dirname "$0")/../.." || exit 2
status=0
set -- tracer/drive/list.c tracer/prov/plock/plock_holds.c
for f in tracer/consume/*.c; do
	case $f in */text.c | */writer.c) ;; *) set -- "$@" "$f" ;; esac
done
awk -f t/lint/text.awk "$@" || status=1
# The rule itself: what must be found, is.
found=$(awk -f t/lint/text.awk t/lint/text.bad | cut -d: -f2 | tr '\n' ' ')
want=$(grep -n 'BAD' t/lint/text.bad | cut -d: -f1 | tr '\n' ' ')
[ "$found" = "$want" ] || {
	echo "text.awk finds lines $found of text.bad, not $want"
	status=1
}
exit $status
