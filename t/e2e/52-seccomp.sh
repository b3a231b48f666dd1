#!/bin/bash
# A process that may not map memory, on pain of an error or of death: it is
# refused with that reason, as nothing would protect it, unless one insists; in
# any case it lives on as it was.
. "${0%/*}/lib.sh"

for how in errno kill; do
for insist in '' '-x unprotected'; do
	start box "$bin/sandbox" $how
	line box '^(ready|no seccomp)'
	[ "${line#no}" = "$line" ] || skip "$line"
	text_of "${pid[box]}" >"$tmp/before"
	# shellcheck disable=SC2016,SC2086
	start_null dt "$DTRAP" -q -x switchrate=5ms \
	    $insist -n 'BEGIN { printf("armed\n"); }' \
	    -n 'pid$target:a.out:work:entry { @e = count(); }
	    pid$target:a.out:work:return { @r = count(); }
	    END { printa("entry %@d\n", @e); printa("return %@d\n", @r); }' \
	    -p "${pid[box]}"
	LIMIT=60
	if IFS= read -r -t 60 -u "${out[dt]}" line && [ "$line" = armed ]; then
		tell box go
		line box '^worked'
		is "$how: work" "$line" "worked 10 sum 55"
		kill -INT "${pid[dt]}"
		end dt
		is "$how: status" "$status" 0
		has "$tmp/dt.out" '^entry 10$'
		has "$tmp/dt.out" '^return 10$'
		[ -n "$insist" ] || wrong "$how: traced without protection"
		has "$tmp/dt.err" "^dtrap: pid ${pid[box]} is traced without protection: .*seccomp"
	else
		end dt
		is "$how: status" "$status" 1
		has "$tmp/dt.err" "^dtrap: .*${pid[box]}.*seccomp"
		[ -z "$insist" ] || wrong "$how: refused"
		tell box go
		line box '^worked'
	fi
	alive box
	is "$how: tracer" "$(tracer "${pid[box]}")" 0
	text_of "${pid[box]}" >"$tmp/after"
	same "$how: text" "$tmp/before" "$tmp/after"
	tell box again
	line box '^worked'
	is "$how: work" "$line" "worked 10 sum 110"
	close_in box
	end box
	is "$how: status of the target" "$status" 0
	has "$tmp/box.out" '^end$'
done
done
finish
