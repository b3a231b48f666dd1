#!/bin/bash
# arg0 to arg9 from registers and stack, return values and offsets, against
# what the program says itself.
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
dt -q -o "$tmp/trace" -n '
	pid$target:a.out:ten:entry
	{
		printf("ten %d %d %d %d %d %d %d %d %d %d", arg0, arg1, arg2,
		    arg3, arg4, arg5, arg6, arg7, arg8, arg9);
	}
	pid$target:a.out:ten:return { printf(" = %d\n", arg1); }
	pid$target:a.out:negative:entry { self->n = (int)arg0; }
	pid$target:a.out:negative:return
	{
		printf("negative %d = %d\n", self->n, (int)arg1);
	}
	pid$target:a.out:byte:entry { self->n = (int)arg0; }
	pid$target:a.out:byte:return
	{
		printf("byte %d = %d\n", self->n, (unsigned char)arg1);
	}
	pid$target:a.out:text:return
	{
		printf("text = %s\n", copyinstr(arg1));
	}
	pid$target:a.out:branches:entry { self->b = arg0; }
	pid$target:a.out:branches:return
	{
		printf("branches %d = %d\n", self->b, arg1);
	}' -c "$bin/args"
is "status" "$status" 0
# branches(-1) calls negative(-1) on its way, which the program does not say.
awk '/^negative -1 = 1/ && ++n == 2 { next } { print }' "$tmp/trace" |
    sed '/^$/d' | sort >"$tmp/seen"
sort "$tmp/out" >"$tmp/said"
same "what was seen and what the program said" "$tmp/seen" "$tmp/said"

# arg0 of a return probe is the offset of the instruction that returned: one
# that lies in the function, and objdump calls it a return or a jump.
# shellcheck disable=SC2016
dt -q -o "$tmp/offsets" -n '
	pid$target:a.out:branches:return { printf("%x\n", arg0); }' \
    -c "$bin/args"
objdump -d --no-show-raw-insn "$bin/args" | awk '
	/^[0-9a-f]+ <branches>:/ { on = 1; start = $1; next }
	/^$/ { on = 0 }
	on { sub(":", "", $1); print start, $1, $2 }' |
    while read -r from at what; do
	printf '%x %s\n' $((16#$at - 16#$from)) "$what"
done >"$tmp/insns"
sed '/^$/d' "$tmp/offsets" | while read -r o; do
	grep -qE "^$o (ret|jmp)" "$tmp/insns" || echo "$o"
done >"$tmp/bad"
[ ! -s "$tmp/bad" ] || wrong "returned at $(cat "$tmp/bad")"
is "returns" "$(sed '/^$/d' "$tmp/offsets" | wc -l)" 3
finish
