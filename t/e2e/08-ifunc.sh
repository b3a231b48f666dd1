#!/bin/bash
# Functions chosen when the program starts: one of its own, and memcpy.
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
dt -q -o "$tmp/trace" -n '
	pid$target:a.out:indirect:entry { @n = count(); @a = sum(arg0); }
	pid$target:libc:memcpy:entry /arg2 > 0 && arg2 <= 4096/
	{ @c = sum(arg2); }
	END {
		printa("indirect %@d", @n); printa(" args %@d\n", @a);
		printa("copied %@d\n", @c);
	}' -c "$bin/ifunc"
is "status" "$status" 0
has "$tmp/out" '^indirect 20 sum 190 copied 8178$'
has "$tmp/trace" '^indirect 20 args 90$'
# Others may copy, too.
copied=$(sed -n 's/^copied //p' "$tmp/trace")
[ "${copied:-0}" -ge 8178 ] || wrong "copied '$copied', expected 8178 or more"

# Enabled before anybody could have resolved it.
# shellcheck disable=SC2016
dt -q -x evaltime=exec -o "$tmp/trace" -n '
	pid$target:a.out:indirect:entry { @n = count(); }
	END { printa("indirect %@d\n", @n); }' -c "$bin/ifunc"
is "status of the early one" "$status" 0
has "$tmp/trace" '^indirect 20$'
finish
