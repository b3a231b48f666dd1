#!/bin/bash
# Libraries that come and go over and over, also in a list of their own
# (dlmopen) and by several threads: each call is seen, where the probes are
# described before the library is there.
. "${0%/*}/lib.sh"

libs=("$bin/libdlo.so" "$bin/libctor.so")
# shellcheck disable=SC2016
script='
	pid$target:libdlo.so:from_ctor:entry,
	pid$target:libctor.so:from_ctor:entry /arg0 >= 100/
	{ @entry[probemod, arg0] = count(); self->n = arg0; }
	pid$target:lib*o*.so:from_ctor:return /arg1 >= 300 && self->n * 3 == arg1/
	{ @return[probemod, arg1 / 3] = count(); self->n = 0; }
	END {
		printa("entry %s %d %@d\n", @entry);
		printa("return %s %d %@d\n", @return);
	}'
for probe in entry return; do
	for lib in libctor.so libdlo.so; do
		for n in 100 101 102 103 104; do
			echo "$probe $lib $n 15"
		done
	done
done | sort >"$tmp/want"

start launched "$DTRAP" -Z -q -o "$tmp/trace" -n "$script" \
    -c "$(quote "$bin/dls" "${libs[@]}")"
line launched ready
tell launched go
end launched
is "launched: status" "$status" 0
has "$tmp/launched.out" '^all 150$'
grep . "$tmp/trace" | sort >"$tmp/got"
same "launched: calls" "$tmp/want" "$tmp/got"

start dls "$bin/dls" "${libs[@]}"
line dls ready
start_dt dt -Z -q -n "$script" -p "${pid[dls]}"
tell dls go
end dls
is "attached: target" "$status" 0
end dt
is "attached: status" "$status" 0
grep -v armed "$tmp/dt.out" | grep . | sort >"$tmp/got"
same "attached: calls" "$tmp/want" "$tmp/got"
hasnt "$tmp/dt.err" 'drop|error|internal'
finish
