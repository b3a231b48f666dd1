#!/bin/bash
# A Go program keeps its functions' names when it is stripped: the same ones are
# listed, the same ones fire.
# shellcheck disable=SC2016
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need go strip
go_module calls
cat >"$tmp/go/main.go" <<'GO'
package main

import "fmt"

//go:noinline
func triple(n int) int {
	return 3 * n
}

//go:noinline
func odd(n int) int {
	if n%2 == 0 {
		return 0
	}
	return triple(n) + 1
}

func main() {
	sum := 0
	for i := 0; i < 40; i++ {
		sum += odd(i)
	}
	fmt.Println(sum)
}
GO

# functions FILE: what a glob means, by the names of the table that stays.  It
# knows what is called on the stack only by having two functions of one name, a
# generic function by one name for all types, and no marks of the linker's.
functions() {
	dt -l -n 'pid$target:a.out::entry' -c "$1"
	awk '$2 ~ /^pid[0-9]/ { print $4 }' "$tmp/out" |
	    grep -vE '\[|^runtime\.e?text$' | sed 's/\.abi0$//' | sort
}

for mode in exe pie; do
	(cd "$tmp/go" && go build -buildmode=$mode -o "$tmp/whole" .) \
	    >"$tmp/err" 2>&1 || fail "cannot compile Go"
	strip -o "$tmp/bare" "$tmp/whole"
	functions "$tmp/whole" >"$tmp/want"
	functions "$tmp/bare" >"$tmp/got"
	same "$mode: functions" "$tmp/want" "$tmp/got"
	hasnt "$tmp/err" 'no function symbols'
	for program in whole bare; do
		for name in odd main; do
			dt -l -n 'pid$target:a.out:main.'$name: -c "$tmp/$program"
			awk '$2 ~ /^pid[0-9]/ { print $4, $5 }' "$tmp/out"
		done >"$tmp/$program.places"
		dt -q -o "$tmp/$program.seen" -n '
			pid$target:a.out:main.odd:entry { @n["odd"] = count(); }
			pid$target:a.out:main.odd:return { @n["odds"] = count(); }
			pid$target:a.out:main.triple:entry { @n["triple"] = count(); }
			pid$target:a.out:main.triple:return {
				@sum = sum(arg1);
				@n["callers"] = count();
				@at[arg0] = count();
				@[ufunc(uregs[R_PC])] = count(); }' -c "$tmp/$program"
		is "$mode: $program: status" "$status" 0
	done
	same "$mode: instructions" "$tmp/whole.places" "$tmp/bare.places"
	sed 's/whole`/bare`/' "$tmp/whole.seen" | tr -s ' ' >"$tmp/want"
	tr -s ' ' <"$tmp/bare.seen" >"$tmp/got"
	same "$mode: calls" "$tmp/want" "$tmp/got"
	has "$tmp/got" '^ triple 20$'
	dt -q -x stackformat=folded -o "$tmp/folded" \
	    -n 'pid$target:a.out:main.triple:entry { @[ustack()] = count(); }' \
	    -c "$tmp/bare"
	has "$tmp/folded" 'bare`runtime.main;bare`main.main;bare`main.odd;bare`main.triple 20$'
done

# Where its goroutines are is not known then, and its functions have no jumps.  Those of
# a library that it calls have.
mkdir "$tmp/calls"
echo 'module allocates' >"$tmp/calls/go.mod"
cat >"$tmp/calls/main.go" <<'GO'
package main

// #include <stdlib.h>
import "C"

func main() {
	for i := 0; i < 20000; i++ {
		C.free(C.malloc(10))
	}
}
GO
(cd "$tmp/calls" && CGO_ENABLED=1 go build -ldflags=-s -o "$tmp/allocates" .) \
    >"$tmp/err" 2>&1 || fail "cannot compile Go"
dt -l -v -x fastpath=on -n 'pid$target:a.out:main.main:entry { @ = count(); }' \
    -c "$tmp/allocates"
has "$tmp/out" '1 by trap: it is not known where goroutines are'
dt -q -v -x fastpath=on -n 'pid$target:libc:malloc:entry { @ = count(); }' \
    -c "$tmp/allocates"
is "allocates: status" "$status" 0
[ "$(awk '/ hits by jump, / { print ($2 >= 19000) }' "$tmp/err")" = 1 ] ||
	wrong "allocates: $(grep ' hits by jump' "$tmp/err")"
finish
