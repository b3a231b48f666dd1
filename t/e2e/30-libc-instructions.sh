#!/bin/bash
# timeout: 420
# Every instruction of more than 200 functions of libc probed at once, vector
# code included: a program that calls them all gives the same results.
. "${0%/*}/lib.sh"
LIMIT=380

grep -v '^#' t/e2e/libc-functions.txt >"$tmp/names"
[ "$(wc -l <"$tmp/names")" -ge 200 ] || fail "the list is too short"
{
	# shellcheck disable=SC2016
	sed 's/.*/pid$target:libc:&:/; $!s/$/,/' "$tmp/names"
	cat <<'EOF'
{ @[probefunc] = count(); @all = count(); }
END { printa("fn %s %@d\n", @); printa("all %@d\n", @all); }
EOF
} >"$tmp/all.d"

"$bin/libcfns" >"$tmp/plain" || fail "the program itself fails"
dt -o "$tmp/trace" -s "$tmp/all.d" -c "$bin/libcfns"
is "status" "$status" 0
has "$tmp/err" '^dtrap: pid [0-9]+ has exited$'
hasnt "$tmp/err" 'drop|error'
same "results" "$tmp/plain" "$tmp/out"
matched=$(sed -n "s/^dtrap: script '.*' matched \([0-9]*\) probes\$/\1/p" "$tmp/err")
[ "${matched:-0}" -gt 5000 ] || wrong "only '$matched' probes"
sed -n 's/.*fn \([^ ]*\) .*/\1/p' "$tmp/trace" | sort -u >"$tmp/fired"
fired=$(comm -12 <(sort "$tmp/names") "$tmp/fired" | wc -l)
echo "$matched probes; $fired functions fired; $(sed -n 's/.*all //p' "$tmp/trace") hits"
[ "$fired" -ge 200 ] || {
	wrong "only $fired functions fired; not these:"
	comm -23 <(sort "$tmp/names") "$tmp/fired" | tr '\n' ' '
}

# The memory functions again, attached to a program that is in them all the
# time on every thread.
start busy "$bin/busy" 8
line busy ready
for _ in 1 2 3; do
	# shellcheck disable=SC2016
	dt -q -n 'pid$target:libc:mem*:,pid$target:libc:malloc:,
	    pid$target:libc:free:,pid$target:libc:strlen:,
	    pid$target:libc:strtoull:,pid$target:libc:snprintf:
	    { @ = count(); }' -n 'tick-50ms { exit(0); }' -p "${pid[busy]}"
	is "attached: status" "$status" 0
	tell busy hello
	line busy '^alive wrong'
	is "attached" "$line" "alive wrong 0"
done
close_in busy
end busy
is "status of the target" "$status" 0
finish
