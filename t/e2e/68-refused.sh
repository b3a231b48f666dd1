#!/bin/bash
# Where perf events are refused, as in containers, what needs them says so, and
# samples are taken by stops.
. "${0%/*}/lib.sh"
need_attach
"$bin/older" -e /bin/true || skip "no filter can be had"
printf '#!/bin/sh\nexec "%s" -e "%s" "$@"\n' "$bin/older" "$DTRAP" >"$tmp/dtrap"
chmod +x "$tmp/dtrap"
DTRAP=$tmp/dtrap
why='perf events are forbidden here'

for probe in 'sched:::off-cpu' 'vminfo:::as_fault' 'cpc:::cpu_clock-user-1000000'; do
	dt -q -n "$probe { @ = count(); }" -n 'BEGIN { printf("begins\n"); }' -c /bin/true
	is "$probe: status" "$status" 0
	has "$tmp/out" '^begins$'
	has "$tmp/err" "^dtrap: .*$why"
done
# shellcheck disable=SC2016
dt -q -n 'watch$target:a.out:counter:write { @ = count(); }' -c "$bin/watched"
has "$tmp/err" "^dtrap: .*(forbidden|refused|not permitted)"

# shellcheck disable=SC2016
dt -q -v -n 'profile-997 /pid == $target/ { n++; @[ufunc(arg1)] = count(); }
	profile-997 /n >= 50/ { exit(0); } BEGIN { n = 0; }' -c "$bin/shares"
is "profile: status" "$status" 0
has "$tmp/err" '^dtrap: profile-997 has stopped threads for its samples: the kernel records nothing for this user'
finish
