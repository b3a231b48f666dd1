#!/bin/bash
# Stacks as text: folded, with lines, with and without demangling; and by what
# was mapped when they were recorded, whatever has come to lie there since.
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

prog='pid$target:a.out:leaf:entry { @[execname, ustack(4)] = count(); }'
side='shapes::shape<int>::side(int, char const*)'
mangled=_ZN6shapes5shapeIiE4sideEiPKc

# One line a stack, the outermost frame first, the names single words.  The
# record's own newline makes an empty line, and nothing else does.
dt -q -x stackformat=folded -o "$tmp/folded" -n "$prog" -c "$bin/frames"
is "folded: status" "$status" 0
word=${side// /_}
grep . "$tmp/folded" | sed 's/^.*;\(frames`main\)/\1/' | sort >"$tmp/got"
sort >"$tmp/want" <<END
frames\`main;frames\`last;frames\`over;frames\`leaf frames 1
frames\`main;frames\`left(int);frames\`$word;frames\`leaf frames 30
frames\`main;frames\`right(int);frames\`$word;frames\`leaf frames 10
frames\`main;frames\`right(int);frames\`leaf frames 10
END
same "folded" "$tmp/want" "$tmp/got"

# In a record: in its column, or a line of its own.
over='pid$target:a.out:over:entry { ustack(2); }'
dt -x stackformat=folded -o "$tmp/record" -n "$over" -c "$bin/frames"
has "$tmp/record" ' over:entry   frames`last;frames`over$'
dt -q -x stackformat=folded -o "$tmp/quiet" -n "$over" -c "$bin/frames"
is "quiet" "$(grep . "$tmp/quiet")" 'frames`last;frames`over'

# Names as the linker has them, in stacks, symbols and printf.
over='pid$target:a.out:leaf:entry { ustack(2); usym(ucaller);
    printf("\n%A\n", ucaller); exit(0); }'
dt -q -o "$tmp/nice" -n "$over" -c "$bin/frames"
is "demangled" "$(grep -c -F "frames\`$side" "$tmp/nice")" 3
rm -f "$tmp/nice"
dt -q -x demangle=off -o "$tmp/raw" -n "$over" -c "$bin/frames"
is "mangled" "$(grep -c "frames\`$mangled" "$tmp/raw")" 3
hasnt "$tmp/raw" shape::

# Source and line, of the call and not of what comes after it.  The last
# instruction of last() is a call: its return address is in another function.
src=t/e2e/src/frames.cc
line_of() {
	grep -n -F "$1" $src | cut -d: -f1 | tail -n 1
}
dt -q -x usrcline -x stackindent=0 -o "$tmp/lines" -n '
	pid$target:a.out:leaf:entry /ustackdepth > 5/ { @[ustack()] = count(); }
	pid$target:a.out:over:entry { ustack(3); }' -c "$bin/frames"
has "$tmp/lines" "^frames\`leaf \(frames.cc:1[0-9]\)\$"
has "$tmp/lines" "side.*\(frames.cc:$(line_of 'line of side')\)\$"
has "$tmp/lines" "^frames\`left\(int\)\+0x.* \(frames.cc:$(line_of '"m") + 1;')\)\$"
has "$tmp/lines" "^frames\`last\+0x[0-9a-f]* \(frames.cc:$(line_of 'over(n);')\)\$"
has "$tmp/lines" "^frames\`main\+0x[0-9a-f]* \(frames.cc:$(line_of 'last(sum);')\)\$"

# Libraries that lie in one place one after the other; exec; the end.  All is
# printed when all are gone.
first=$bin/libswap-first second=$bin/libswap-second third=$bin/libswap-third
dt -q -x switchrate=1h -x stackformat=folded -o "$tmp/swap" -n '
	pid$target:swap:tell:entry {
		ustack(3); @s[ustack(3)] = count(); @f[ufunc(ucaller)] = count();
		@m[umod(ucaller)] = count();
	}' -c "$bin/swap $first $second $first $first exec $third"
is "swap: status" "$status" 0
is "places" "$(awk '/first|second/ { print $2 }' "$tmp/out" | sort -u | wc -l)" 1
frames() {
	echo "libswap-$1\`work;libswap-$1\`$1;swap\`tell"
}
is "swap: records" "$(sed -n '/./p;/^$/q' "$tmp/swap" | tr '\n' ' ')" \
    "$(frames first) $(frames second) $(frames first) $(frames first) $(frames third) "
sed -n '/^$/,$p' "$tmp/swap" | grep . | tr -s ' ' | sed 's/^ //' | sort >"$tmp/got"
sort >"$tmp/want" <<END
$(frames first) 3
$(frames second) 1
$(frames third) 1
libswap-first\`first 3
libswap-second\`second 1
libswap-third\`third 1
libswap-first 3
libswap-second 1
libswap-third 1
END
same "swap" "$tmp/want" "$tmp/got"
finish
