#!/bin/bash
# Modules, functions and names by exact text and by glob; aliases share one
# tracepoint.
. "${0%/*}/lib.sh"

# names DESCRIPTION PROGRAM: what -l lists, as module:function:name.
names() {
	dt -l -n "$1" -c "$2"
	awk '$2 ~ /^pid[0-9]/ { print $3 ":" $4 ":" $5 }' "$tmp/out" | sort
}

# shellcheck disable=SC2016
{
for module in a.out args 'a*' 'a.o*' '?rgs'; do
	is "module $module" "$(names 'pid$target:'"$module"':negative:entry' "$bin/args" |
	    cut -d: -f2-)" negative:entry
done
for module in libc libc.so.6 'libc*' 'libc.so*'; do
	is "module $module" "$(names 'pid$target:'"$module"':puts:entry' "$bin/args" |
	    grep -c ':puts:entry$')" 1
done
is "any module" "$(names 'pid$target::negative:entry' "$bin/args" | cut -d: -f2-)" \
    negative:entry
is "glob in function" "$(names 'pid$target:a.out:neg*:entry' "$bin/args" |
    cut -d: -f2-)" negative:entry
is "glob in name" "$(names 'pid$target:a.out:negative:[er]*' "$bin/args" |
    cut -d: -f2- | tr '\n' ' ')" "negative:entry negative:return "
is "set" "$(names 'pid$target:a.out:[tb]e[nx]:entry' "$bin/args" |
    cut -d: -f2-)" ten:entry

# One function by three names: each call fires each name that is asked for.
dt -q -o "$tmp/trace" -n '
	pid$target:a.out:first_name:entry { @first = count(); }
	pid$target:a.out:second_name:entry { @second = count(); }
	pid$target:a.out:third_name:return { @third = sum(arg1); }
	pid$target:a.out:apart:entry { @apart = count(); }
	pid$target:a.out:_first_name:entry { @[probefunc] = count(); }
	END {
		printa("under %s %@d\n", @);
		printa("first %@d\n", @first); printa("second %@d\n", @second);
		printa("third %@d\n", @third); printa("apart %@d\n", @apart);
	}' -c "$bin/aliases"
}
is "status" "$status" 0
has "$tmp/out" '^calls 30 sum 200$'
has "$tmp/trace" '^first 30$'
has "$tmp/trace" '^second 30$'
has "$tmp/trace" '^under first_name 30$'
has "$tmp/trace" '^third 165$'
has "$tmp/trace" '^apart 10$'

# Without names: what nm says.
addr=$(nm "$bin/aliases" | awk '$3 == "apart" { sub(/^0*/, "", $1); print $1 }')
# shellcheck disable=SC2016
dt -q -x noresolve -o "$tmp/raw" -n 'pid$target:a.out:apart:entry { ustack(1);
	printf("%A\n", arg0); @[ufunc(uregs[R_PC])] = count(); }' \
    -c "$bin/aliases"
is "stacks" "$(grep -c "^ *aliases:0x$addr$" "$tmp/raw")" 10
has "$tmp/raw" "^ *aliases:0x$addr  *10$"
finish
