#!/bin/bash
# Functions of Go: arguments and results in Go's registers and on the stack, with
# the types of its debug information; texts and slices; the goroutine's number.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
GO=${GO:-go}
need "$GO" gcc
# What is compiled of the standard library is kept for the next test.
go_offline "$PWD/$B/gocache"
export GOTOOLCHAIN=local GOMAXPROCS=4

cp -r t/e2e/src/typedgo "$tmp/src"
build() {
	local name=$1
	shift
	(cd "$tmp/src" && "$GO" build "$@" -o "$tmp/$name" .) >"$tmp/err" 2>&1 ||
	    fail "cannot compile Go"
}

# shellcheck disable=SC2016 # D, not shell
{
say() {
	printf 'pid$target:a.out:%s:%s { printf("%s\\n", %s); }\n' \
	    "$2" "$1" "$3" "$4"
}

# clauses B C D: which argument b, c and d of blanks() is.
clauses() {
	echo '#pragma D option quiet'
	echo '#pragma D option switchrate=10ms'
	say entry main.ints 'ints %d %d %d %d %d %d %d %d %d %d %d' \
	    'args[0], args[1], args[2], args[3], args[4], args[5], args[6],
	    args[7], args[8], args[9], args[10]'
	say return main.ints 'ints = %d %d %d' 'args[1], args[2], args[3]'
	say entry main.floats 'floats %.2f %.2f %d %.2f %.2f %.2f %.2f %.2f' \
	    'args[0], args[1], args[2], args[3][0], args[3][1], args[4],
	    args[5][0], args[5][1]'
	say return main.floats 'floats = %.2f %.2f %.2f %.2f' \
	    'args[1], args[2][0], args[2][1], args[3]'
	say entry main.texts 'texts %s %s %d %d %d %d %d' \
	    'stringof(args[0]), stringof(args[1]), strlen(stringof(args[2])),
	    ((int64_t *)copyin(args[3]))[0],
	    ((int64_t *)copyin(args[3]))[args[3].len - 1], args[3].len,
	    args[1].cap'
	say return main.texts 'texts = %s %d %d %d' 'stringof(args[1]),
	    args[2].array[0], args[2].array[1], args[3].data != 0'
	say entry main.objects \
	    'objects %d %d %d %.2f %s %.2f %d %d %s %d %d %d %d' \
	    'args[0].X, args[0].Y, args[1].B, args[1].F, stringof(args[1].S),
	    args[1].D, args[1].N, args[2].A[2], stringof(args[2].S), args[3][0],
	    args[4][0], args[4][1], args[6]'
	say return main.objects 'objects = %d %s %d %d' \
	    'args[1].A[2], stringof(args[1].S), args[2].X, args[2].Y'
	say entry main.pointers 'pointers %s %d %d %d %d %d %d %d %s' \
	    'stringof(args[0]->Left->Name), args[0]->Right == 0,
	    args[0]->Marks.array[1], *(int64_t *)args[2], args[1] != 0,
	    args[3]->dataqsiz, args[4].data == args[0],
	    *(int64_t *)args[5].data, stringof(*args[6])'
	say return main.pointers 'pointers = %s' 'stringof(args[1]->Name)'
	say entry main.blanks 'blanks %d %s %.2f' \
	    "args[$1], stringof(args[$2]), args[$3]"
	say return main.blanks 'blanks = %s' 'stringof(args[2])'
	say entry main.spilled 'spilled %d' "args[$4]"
	say return main.spilled 'spilled = %d' 'args[1]'
	say entry main.point.sum 'sum %d %d %d' 'args[0].X, args[0].Y, args[1]'
	say return main.point.sum 'sum = %d' 'args[1]'
	say entry words.Weigh.abi0 'weigh %d %d %s %d' \
	    '(int)arg0, (signed char)arg1, copyinstr(arg2, arg3 + 1), (int)arg3'
	say entry words.Back.abi0 'back %d %d' 'args[0], args[1]'
	say return words.Back.abi0 'back = %d' 'args[1]'
	say return words.Weigh.abi0 'weigh = %d %d' \
	    '*(int64_t *)copyin(uregs[R_RSP] + 40, 8),
	    *(int64_t *)copyin(uregs[R_RSP] + 48, 8)'
	say return words.Back.abi0 'raw = %d' 'arg1'
	cat <<-'D'
	pid$target:a.out:main.deep:entry { @["deep", stringof(args[1])] = count(); }
	pid$target:a.out:main.deep:return { @r["deep", args[1]] = count(); }
	END { printa("%s %s\n", @); printa("%s = %d %@d\n", @r); }
	D
}

build typed
build typed-o0 -gcflags=all='-N -l'
build typed-pie -buildmode=pie
for p in typed typed-o0 typed-pie; do
	dt -l -v -n 'pid$target:a.out:main.blanks:entry' -c "$tmp/$p"
	case $(grep -c 'args\[' "$tmp/out") in
	3) which='0 1 2 0' ;;
	6) which='1 3 5 1' ;;
	*) fail "$p: what are the arguments of blanks()?" ;;
	esac
	# shellcheck disable=SC2086 # words
	clauses $which >"$tmp/all.d"
	dt -s "$tmp/all.d" -o "$tmp/seen" -c "$tmp/$p"
	is "$p: status" "$status" 0
	[ -s "$tmp/err" ] && { cat "$tmp/err"; wrong "$p: messages"; }
	# What assembly does, and how often a stack has grown, the program
	# does not tell.
	grep -vE '^(-?[0-9]+ ?)+$|^deep ' "$tmp/out" >"$tmp/want"
	grep -E '^[a-z]' "$tmp/seen" | grep -vE '^(weigh|back|raw|deep)' >"$tmp/got"
	is "$p: lines" "$(grep -c . "$tmp/want")" 48
	same "$p" "$tmp/want" "$tmp/got"
	is "$p: assembly" "$(grep -E '^weigh' "$tmp/seen" | tr '\n' ' ')" \
	    'weigh 1 -1 go 2 weigh = 0 2 weigh 2 -2 gogo 4 weigh = 0 4 weigh 3 -3 gogogo 6 weigh = 0 6 '
	is "$p: from assembly" "$(grep -E '^back' "$tmp/seen" | tr '\n' ' ')" \
	    'back 1 6 back = 8 back 2 7 back = 11 back 3 8 back = 14 '
	is "$p: words of results on the stack" \
	    "$(grep -E '^raw' "$tmp/seen" | tr '\n' ' ')" 'raw = 8 raw = 11 raw = 14 '
	is "$p: while stacks grow" "$(grep '^deep' "$tmp/seen" | tr '\n' ' ')" \
	    'deep stack deep = 5 3001 '
	rm -f "$tmp/seen"
done

# What has no types says why.
while read -r probe index text; do
	dt -x errtags -n 'pid$target:a.out:'"$probe { trace(args[$index]); }" \
	    -c "$tmp/typed"
	is "$probe: status" "$status" 1
	has "$tmp/err" "$text"
done <<'END'
words.Weigh.abi0:entry 0 D_ARGS_IDX.*it is written in assembly
main.main:entry 0 D_ARGS_IDX.*the function has no parameters
main.goroutines:return 1 D_ARGS_IDX.*the function returns nothing
END
dt -l -n 'pid$target:a.out:words.Back.abi0:entry' -c "$tmp/typed"
has "$tmp/out" 'words.Back\.abi0 entry'

# Stripped: the registers are what they are, as is the goroutine.
build plain -ldflags='-s -w'
dt -q -o "$tmp/raw" -c "$tmp/plain" -n '
    pid$target:a.out:main.ints:entry {
	printf("%d %d %d %d %d %d %d %d %c %d goid %d\n", (int8_t)arg0,
	    (uint16_t)arg1, (int)arg2, arg3, arg4, arg5 & 1, arg6,
	    (uint8_t)arg7, arg8, arg9, goid); }
    pid$target:a.out:main.ints:return {
	printf("= %d %d %d\n", arg1, arg2 & 1, (short)arg3); exit(0); }'
is "stripped" "$(tr '\n' ' ' <"$tmp/raw" | sed 's/ *$//')" \
    '-1 1 -70000 1099511627776 1 0 1 200 x 1000 goid 1 = 1001 1 0'

# Inside a function whose arguments are on the stack, or may be there, no register
# is taken for one.
while read -r p name; do
	dt -q -o "$tmp/inside" -c "$tmp/$p" -n '
	    pid$target:a.out:'"$name"':5 { printf("arg0 %x\n", arg0); }
	    pid$target:a.out:'"$name"':5 { printf("there\n"); }'
	is "$p: $name:5" "$(grep -E 'arg0|there' "$tmp/inside" | tr '\n' ' ')" \
	    'there there there '
	is "$p: $name:5: no arg0" "$(grep -c "$name:5.*illegal operation" \
	    "$tmp/err")" 3
	rm -f "$tmp/inside"
done <<'END'
typed words.Weigh.abi0
plain words.Weigh
END

# The Go command itself, which has symbols and no types.
tool=$("$GO" env GOROOT)/bin/go
export GOARM=6
dt -q -o "$tmp/tool" -c "$tool env GOOS" -n '
    pid$target:a.out:os.Getenv:entry {
	printf("%s %d\n", copyinstr(arg0, arg1 + 1), goid); }
    pid$target:a.out:os.Getenv:return /arg2 != 0/ {
	printf("= %s\n", copyinstr(arg1, arg2 + 1)); }'
is "the Go command" "$(grep -A1 -x 'GOARM 1' "$tmp/tool" | head -n 2 |
    tr '\n' ' ')" 'GOARM 1 = 6 '

# Goroutines that change threads between entry and return.
for p in typed plain; do
	dt -q -o "$tmp/goid" -c "$tmp/$p more" -n '
	    pid$target:a.out:main.wander:entry
		/goid != 0/ { given[goid] = (int)arg0; @[goid] = max(1); }
	    pid$target:a.out:main.wander:return /goid != 0/ {
		@ok[given[goid] * 10 == arg1 ? "matched" : "not"] = count(); }
	    BEGIN { printf("begin %d\n", goid); }
	    END { printa("each %@d\n", @); printa("%s %@d\n", @ok); }'
	# How often one begins is not asked: its stack may grow.
	is "$p: goroutines" "$(grep -vx '' "$tmp/goid" | sort | uniq -c |
	    sed 's/^ *//' | tr '\n' ' ')" '1 begin 0 40 each 1 1 matched 40 '
	rm -f "$tmp/goid"
done
dt -q -o "$tmp/none" -n 'pid$target:a.out:main:entry { trace(goid); exit(0); }
    ' -c "$bin/typed-o2"
is "no Go" "$(tr -d ' \n' <"$tmp/none")" 0

# C in a program of Go is called as C, on the stack of the system.
mkdir "$tmp/cgo"
printf 'module c\n\ngo 1.18\n' >"$tmp/cgo/go.mod"
cat >"$tmp/cgo/main.go" <<'END'
package main

// __attribute__((noinline)) long both(long a, short b) { return a * 100 + b; }
import "C"
import "fmt"

//go:noinline
func call(n int) int { return int(C.both(C.long(n), C.short(n+1))) }

func main() { fmt.Println(call(3)) }
END
if (cd "$tmp/cgo" && CGO_ENABLED=1 "$GO" build -o "$tmp/c" .) 2>"$tmp/err"; then
	dt -q -o "$tmp/both" -c "$tmp/c" -n '
	    pid$target:a.out:main.call:entry { printf("%d %d ", args[0], goid); }
	    pid$target:a.out:both:entry { printf("%d %d %d %d %d ", arg0,
		(short)arg1, args[0], args[1], goid); }
	    pid$target:a.out:both:return { printf("%d %d ", arg1, args[1]); }'
	is "C" "$(tr -d '\n' <"$tmp/both" | sed 's/ *$//')" \
	    '3 1 3 4 3 4 0 304 304'
else
	fail "cannot compile Go with C"
fi

# GCC's compiler calls Go like C.
gccgo=$(compgen -c gccgo | grep -xE 'gccgo(-[0-9]+)?' | head -n 1)
if [ -z "$gccgo" ]; then
	echo "gccgo is not installed: its programs are left out"
	finish
fi
cat >"$tmp/gcc.go" <<'END'
package main

import "fmt"

//go:noinline
func both(a int, s string, f float64, b []int16) int {
	return a + len(s) + int(f) + len(b)
}

func main() { fmt.Println(both(5, "text", 2.5, []int16{7, -8})) }
END
"$gccgo" -g -O1 -o "$tmp/gcc" "$tmp/gcc.go" 2>"$tmp/err" || fail "gccgo"
dt -q -o "$tmp/bothgcc" -c "$tmp/gcc" -n '
    pid$target:a.out:main.both:entry { printf("%d %s %.1f %d %d ", args[0],
	stringof(args[1]), args[2], ((int16_t *)copyin(args[3]))[1], arg0); }
    pid$target:a.out:main.both:return { printf("%d", args[1]); }'
is "gccgo" "$(tr -d "\n" <"$tmp/bothgcc")" '5 text 2.5 -8 5 13'
}
finish
