#!/bin/bash
# How long it takes from the command to the end of BEGIN, to compile much, and
# to be attached to a process with a hundred libraries; and the memory for that.
. "${0%/*}/lib.sh"

LIBS=100
FUNCS=100

table 'ms from start to end' ''
row 'dtrap, BEGIN' "$(took "$DTRAP" -q -n 'BEGIN{exit(0)}')"
# shellcheck disable=SC2016
row 'dtrap -c true, one probe' \
    "$(took "$DTRAP" -q -n 'pid$target:libc:malloc:entry{@=count()}' -c true)"
for ((i = 0; i < 400; i++)); do
	echo "/* clause $i */
BEGIN
/pid == $i && timestamp > 4/
{ @calls[execname, $i] = count(); self->x$((i % 7)) = timestamp + $i; }
"
done >"$tmp/long.d"
row "dtrap -e, $(wc -l <"$tmp/long.d") lines of D" \
    "$(took "$DTRAP" -e -q -s "$tmp/long.d")"
if have bpftrace root; then
	row 'bpftrace, BEGIN' "$(took bpftrace -e 'BEGIN{exit()}')"
fi
if have gdb; then
	row 'gdb -batch' "$(took gdb -q -nx -batch -ex quit)"
fi

# A program that waits, of so many libraries with so many functions each.
have "${CC:=cc}" || exit 0
for ((i = 0; i < FUNCS; i++)); do
	echo "long bench_$i(long a) { return a * $i; }"
done >"$tmp/lib.c"
echo 'int main(void) { return getchar(); }' >"$tmp/many.c"
$CC -g -O1 -fPIC -c -o "$tmp/lib.o" "$tmp/lib.c" || exit 1
for ((i = 0; i < LIBS; i++)); do
	$CC -shared -nostdlib -Wl,-soname,libbench$i.so -o "$tmp/libbench$i.so" \
	    "$tmp/lib.o" || exit 1
done
$CC -O1 -include stdio.h -o "$tmp/many" "$tmp/many.c" -Wl,--no-as-needed \
    "$tmp"/libbench*.so -Wl,-rpath,"$tmp" || exit 1
mkfifo "$tmp/in"
"$tmp/many" <"$tmp/in" &
beside=$!
exec 3>"$tmp/in" # it has been executed when both ends are open
until grep -q "libbench$((LIBS - 1)).so" "/proc/$beside/maps"; do
	kill -0 "$beside" || exit 1
done

# Peak memory in MB as VmHWM says in "$tmp/out", after `took'.
peak() {
	awk '/VmHWM/ { printf "%.1f", $2 / 1024; exit }' "$tmp/out"
}

# shellcheck disable=SC2016
by_dtrap() {
	took "$DTRAP" -w -q -n "$1" -n 'BEGIN {
		system("grep VmHWM /proc/%d/status", $pid); exit(0); }' -p "$beside"
}

table "attaching, $LIBS libraries" ms MB
# shellcheck disable=SC2016
{
ms=$(by_dtrap 'pid$target:a.out:main:entry { @ = count(); }')
row 'dtrap, one probe' "$ms" "$(peak)"
ms=$(by_dtrap 'pid$target:libbench*::entry { @ = count(); }')
row "dtrap, $((LIBS * FUNCS)) probes" "$ms" "$(peak)"
row "dtrap -l -P pid, $("$DTRAP" -l -P "pid$beside" -p "$beside" | wc -l) lines" \
    "$(took "$DTRAP" -l -P "pid$beside" -p "$beside")"
}
if have gdb; then
	# shellcheck disable=SC2016
	ms=$(took gdb -q -nx -batch -p "$beside" \
	    -ex 'shell grep VmHWM /proc/$PPID/status')
	row 'gdb, no breakpoint' "$ms" "$(peak)"
fi
