#!/bin/bash
# Memory of the target written by a clause; and only with -w, and where the
# target itself might write.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"

# written PROGRAM: what argv shows of its argument after the clause.
written() {
	dt -q -w -o "$tmp/trace" -n 'pid$target:a.out:main:entry
	{ this->at = *(uintptr_t *)copyin(arg1 + 8, 8); '"$1"' }
	ERROR { printf("fault %d\n", (int)arg4); }' -c "$bin/argv abcdefgh"
	is "$1: status" "$status" 0
	tr -d '\n' <"$tmp/out"
	tr -s '\n' ' ' <"$tmp/trace"
	rm -f "$tmp/trace"
}

is "copyoutstr" "$(written 'copyoutstr("XY", this->at, 3);')" "[XY] "
is "copyoutstr, cut" "$(written 'copyoutstr("WXYZ", this->at, 2);')" \
    "[WXcdefgh] "
is "copyoutstr stops at the end" "$(written 'copyoutstr("", this->at, 8);')" \
    "[] "
is "copyout" "$(written 'this->p = (char *)alloca(4); this->p[0] = 81;
	this->p[1] = 82; copyout(this->p, this->at + 2, 2);')" "[abQRefgh] "
is "the clause sees it" "$(written 'copyoutstr("Z", this->at + 7, 1);
	printf("%s", copyinstr(this->at));')" "[abcdefgZ]abcdefgZ "
is "nowhere" "$(written 'copyoutstr("Z", 16, 1);')" "[abcdefgh]fault 1 "

dt -q -n 'BEGIN { copyoutstr("Z", 16, 1); exit(0); }'
is "without -w" "$status" 1
has "$tmp/err" 'Destructive actions not allowed; -w allows copyout\(\) and copyoutstr\(\)$'
finish
