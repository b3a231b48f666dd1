#!/bin/bash
# Option perfmap: perf names the code that probes by jump run.
. "${0%/*}/lib.sh"
command -v perf >/dev/null || skip "perf is not installed"
perf record -q -o "$tmp/data" -e cpu-clock:u true >"$tmp/out" 2>&1 ||
    skip "perf may not record here"

# shellcheck disable=SC2016 # $target is dtrap's
d='pid$target:a.out:hot_push:entry { @ = count(); }'

perf record -q -o "$tmp/data" -F 2000 -e cpu-clock:u "$DTRAP" -q -x fastpath=on \
    -x perfmap -n "$d" -c "$bin/hot 20000000 push" >"$tmp/out" 2>"$tmp/err"
is "status" "$?" 0
has "$tmp/out" '^ +20000000$'
perf script -i "$tmp/data" --comm hot -F pid,ip,sym >"$tmp/samples" 2>"$tmp/err"
has "$tmp/samples" 'dtrap:hot_push'
map=/tmp/perf-$(awk '/dtrap:hot_push/ { print $1; exit }' "$tmp/samples").map
is "its pieces" "$(grep -cE '^[0-9a-f]+ [0-9a-f]+ dtrap:hot_push$' "$map")" 2
has "$map" '^[0-9a-f]+ [0-9a-f]+ dtrap$' # what all sites share
rm -f "$map"

# What is there already stays; what leads elsewhere is left alone.
start hot "$bin/busy" 2
line hot ready
map=/tmp/perf-${pid[hot]}.map
# shellcheck disable=SC2016
d='pid$target:a.out:work*:entry { @ = count(); } BEGIN { exit(0); }'
echo '1000 10 of the program' >"$map"
dt -q -x fastpath=on -x perfmap -n "$d" -p "${pid[hot]}"
is "a file of the program's: status" "$status" 0
has "$map" '^1000 10 of the program$'
has "$map" ' dtrap:work'
echo other >"$tmp/other"
ln -sf "$tmp/other" "$map"
dt -q -x fastpath=on -x perfmap -n "$d" -p "${pid[hot]}"
is "a link: status" "$status" 0
is "a link" "$(cat "$tmp/other")" other
has "$tmp/err" "cannot write $map: Too many levels of symbolic links"
rm -f "$map"
# Without the option nothing is written.
dt -q -x fastpath=on -n "$d" -p "${pid[hot]}"
[ ! -e "$map" ] || wrong "$map is there"
close_in hot
end hot
finish
