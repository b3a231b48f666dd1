#!/bin/bash
# Functions of hand-written assembly have symbols without a type and a size: what
# nasm makes of `global' if it is told no more.  They are listed and probed; a
# label inside of a typed function is none, nor is what a linker defines.
. "${0%/*}/lib.sh"
need nasm
need gcc

cat >"$tmp/leaf.asm" <<'ASM'
default rel
section .text
global twice, inside, behind
global typed:function (typed_end - typed)
twice:	lea eax, [rdi + rdi]
	ret
typed:	add edi, 1
inside:	lea eax, [rdi + 1]
	ret
typed_end:
behind:	lea eax, [rdi + 7]
	ret
local:	ret
section .data
global number
number:	dd 5
section .note.GNU-stack noalloc noexec nowrite progbits
ASM
cat >"$tmp/main.c" <<'C'
#include <stdio.h>
int twice(int), typed(int), behind(int);
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 10; i++)
		sum += twice(i) + typed(i) + behind(i);
	printf("%d\n", sum);
}
C
nasm -f elf64 -o "$tmp/leaf.o" "$tmp/leaf.asm" || fail nasm
gcc -O1 -o "$tmp/untyped" "$tmp/main.c" "$tmp/leaf.o" || fail gcc
gcc -O1 -shared -o "$tmp/libleaf.so" "$tmp/leaf.o" || fail "gcc -shared"
strip "$tmp/libleaf.so"
gcc -O1 -o "$tmp/dynamic" "$tmp/main.c" "$tmp/libleaf.so" \
    -Wl,-rpath,"$tmp" || fail "gcc dynamic"

# listed PROGRAM MODULE
listed() {
	"$DTRAP" -ln "pid\$target:$2::entry" -c "$tmp/$1" 2>"$tmp/err" |
	    awk 'NR > 1 { print $4 }' | sort | tr '\n' ' '
}

got=$(listed untyped a.out)
for f in twice typed behind main; do
	[[ " $got" == *" $f "* ]] || wrong "$f is not listed: $got"
done
for f in inside local number _end _edata _etext etext __bss_start \
    __executable_start data_start; do
	[[ " $got" != *" $f "* ]] || wrong "$f is listed"
done
got=$(listed dynamic libleaf.so)
for f in twice typed behind; do
	[[ " $got" == *" $f "* ]] || wrong "$f of the library is not: $got"
done
[[ " $got" != *" inside "* ]] || wrong "a label of the library is listed"

for p in untyped dynamic; do
	# shellcheck disable=SC2016 # $target is dtrap's
	"$DTRAP" -q -o "$tmp/got.$p" -c "$tmp/$p" -n '
	pid$target::twice:entry,
	pid$target::typed:entry,
	pid$target::behind:entry { @e[probefunc, arg0 < 10] = count(); }
	pid$target::twice:return,
	pid$target::typed:return,
	pid$target::behind:return { @r[probefunc] = sum(arg1); }
	END {
		printa("%s %d %@d\n", @e);
		printa("%s %@d\n", @r);
	}' >"$tmp/out" 2>"$tmp/err" || wrong "$p: status $?"
	sort "$tmp/got.$p" | sed '/^$/d' >"$tmp/sorted"
	diff - "$tmp/sorted" <<'END' || wrong "$p: entries and results"
behind 1 10
behind 115
twice 1 10
twice 90
typed 1 10
typed 65
END
	[ "$(cat "$tmp/out")" = 270 ] || wrong "$p printed $(cat "$tmp/out")"
done
finish
