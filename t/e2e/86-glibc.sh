#!/bin/bash
# The static probes of the C library, where it is built with them: Debian's is
# not, others' are.
. "${0%/*}/lib.sh"
need cc ldd readelf
cat >"$tmp/p.c" <<'C'
#include <malloc.h>
#include <setjmp.h>

int
main(void)
{
	static jmp_buf env;
	volatile int n = 0;

	mallopt(M_MMAP_THRESHOLD, 123456);
	setjmp(env);
	if (n++ < 5)
		longjmp(env, n + 10);
	return 0;
}
C
cc -O1 -o "$tmp/p" "$tmp/p.c" 2>"$tmp/cc.err" || fail "cc"
lib=$(ldd "$tmp/p" | awk '/libc\.so/ { print $3 }')
carries "$lib" memory_mallopt ||
    skip "the C library ($lib) has no static probes here"

# shellcheck disable=SC2016
dt -q -Z -c "$tmp/p" -n 'libc$target:::memory_mallopt { printf("mallopt %d %d\n", args[0], args[1]); }
libc$target:::longjmp { printf("longjmp %d\n", args[1]); }'
is "status" "$status" 0
{ echo 'mallopt -3 123456'; printf 'longjmp %d\n' 11 12 13 14 15; } >"$tmp/want"
sed '/^$/d' "$tmp/out" >"$tmp/seen"
same "probes" "$tmp/want" "$tmp/seen"
finish
