#!/bin/bash
# Names of a program in Go: packages, methods, closures, types in brackets.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need go
go_module names
cat >"$tmp/go/main.go" <<'GO'
package main

import "fmt"

type T struct{ n int }

//go:noinline
func (t *T) Meth(x int) int { return t.n + x }

//go:noinline
func (t T) Value(x int) int { return t.n * x }

type adder interface{ Meth(int) int }

//go:noinline
func call(a adder) int { return a.Meth(3) }

//go:noinline
func pair[K comparable, V any](k K, v V) string { return fmt.Sprint(k, v) }

func main() {
	t := &T{4}
	twice := func(i int) int { return t.Value(i) * 2 }
	for i := 0; i < 5; i++ {
		call(t)
	}
	fmt.Println(call(t), twice(2), pair("a", 1), pair(1, 2.0))
}
GO
(cd "$tmp/go" && go build -gcflags=-l -o "$tmp/names" .) >"$tmp/err" 2>&1 ||
    fail "cannot compile Go"

# functions FIELD FILE: those that it means, as they are shown.
functions() {
	# shellcheck disable=SC2016
	dt -l -n 'pid$target:a.out:'"$1"':entry' -c "$tmp/names"
	sed -En 's/^ *[0-9]+ +pid[0-9]+ +names +(.*) entry$/\1/p' "$tmp/out" |
	    sort >"$2"
}

# All that Go's own tool calls text, but for the marks at its begin and end.
go tool nm "$tmp/names" | sed -En 's/^ *[0-9a-f]+ [Tt] //p' |
    grep -vxE 'runtime.e?text' | sort >"$tmp/nm"
functions '' "$tmp/all"
same "all functions" "$tmp/nm" "$tmp/all"
grep '^main\.' "$tmp/nm" >"$tmp/nm-main"
functions 'main.*' "$tmp/main"
same "those of main" "$tmp/nm-main" "$tmp/main"
has "$tmp/main" '^main\.\(\*T\)\.Meth$'
has "$tmp/main" '^main\.main\.func1$'

# shellcheck disable=SC2016
{
# Methods, as Go writes them; of a name with brackets, these are escaped, or it is
# what it says.  A comma has to be in quotes.
while IFS='|' read -r field want; do
	functions "$field" "$tmp/got"
	is "$field" "$(tr '\n' '|' <"$tmp/got")" "$want|"
done <<'END'
main.(*T).Meth|main.(*T).Meth
main.(\*T).Meth|main.(*T).Meth
"main.(\*T).Meth"|main.(*T).Meth
main.T.Value|main.T.Value
"main.pair[go.shape.int_0,go.shape.float64_1]"|main.pair[go.shape.int_0,go.shape.float64_1]
"main.pair\[go.shape.string_0,*"|main.pair[go.shape.string_0,go.shape.int_1]
main.main.*|main.main.func1
END

dt -q -o "$tmp/trace" -n 'pid$target:a.out:main.(*T).Meth:entry,
	pid$target:a.out:main.T.Value:entry,
	pid$target:a.out:"main.pair\[*":entry { @[probefunc] = count(); }
	END { printa("%s %@d\n", @); }' -c "$tmp/names"
is "status" "$status" 0
is "counts" "$(grep . "$tmp/trace" | sort | tr '\n' ';')" \
    'main.(*T).Meth 6;main.T.Value 1;main.pair[go.shape.int_0,go.shape.float64_1] 1;main.pair[go.shape.string_0,go.shape.int_1] 1;'

# Names that are not there, or not so: the nearest, and where they have to be in
# quotes.
while IFS='|' read -r desc want; do
	dt -n "$desc" -c "$tmp/names"
	is "$desc: status" "$status" 1
	grep -qF -e "$want" "$tmp/err" || {
		wrong "$desc: no '$want' in:"
		cat "$tmp/err"
	}
done <<'END'
pid$target::Meth:entry|does not match any probes; did you mean main.(*T).Meth?
pid$target:a.out:main.(*T).Met:entry|; did you mean main.(*T).Meth?
main.(*T).Meth:entry|; did you mean pid$target::main.(*T).Meth:entry?
pid$target::internal/cpu.Initialize:entry|; put a name with a slash in quotes: pid$target::"internal/cpu.Initialize":entry
END
}
finish
