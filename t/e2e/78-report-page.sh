#!/bin/bash
# -x report=FILE.html and `dtrap report': pages whose pictures have the numbers of
# the text, in a browser; and saved runs that are no runs.
# timeout: 900
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need python3 jq
LIMIT=120

chromium=$(command -v chromium || command -v chromium-browser)
[ -n "$chromium" ] || echo "no chromium: pages are made, not looked at"

# page WHAT WANT CHECK FILE...: what report.py says.
page() {
	local what=$1 want=$2
	shift 2
	[ -n "$chromium" ] || return 0
	timeout -k 5 300 python3 -W ignore t/formats/report.py "$tmp/profile" \
	    "$@" >"$tmp/said" 2>&1
	is "$what" "$(cat "$tmp/said")" "$want"
}

# report ARGS...: as dt.
report() {
	dt report "$@"
}

# ---- flame graphs and histograms: live, and of a saved run ----

prog='pid$target:a.out:leaf:entry { @s[execname, ustack()] = count();
	@cut[ustack(2)] = sum(arg0 == 0 ? 1 : 2);
	@q[probefunc] = quantize(arg0 & 63); @l = lquantize(arg0 & 63, 0, 40, 5);
	@ll[ustack(2)] = llquantize(arg0 & 63, 10, 0, 3, 10);
	@n[strjoin("k", lltostr(arg0 & 7))] = count(); }'
dt -q -x report="$tmp/live.html" -x stackformat=folded -o "$tmp/text" \
    -n "$prog" -c "$bin/frames"
is "live: status" "$status" 0
is "live: messages" "$(grep -v '^dtrap: \(desc\|pid\)' "$tmp/err")" ''
awk '$1 == "frames" && NF == 3 { print "frames;" $2, $3 }' "$tmp/text" \
    >"$tmp/stacks"
[ -s "$tmp/stacks" ] ||
    sed -n 's/^\(frames`_start;[^ ]*\) frames \([0-9]*\)$/frames;\1 \2/p' \
	"$tmp/text" >"$tmp/stacks"
is "stacks" "$(awk '{ n += $NF } END { print n }' "$tmp/stacks")" 51
dt -q -x oformat=json -o "$tmp/run.json" -n "$prog" -c "$bin/frames"
report "$tmp/run.json"
is "report: status" "$status" 0
is "report: output" "$(cat "$tmp/out" "$tmp/err")" ''
# The pages of both have the same pictures.
data() {
	sed -n 's/.*id="run">\(.*\)<\/script>$/\1/p' "$1" |
	    jq 'del(.time, .end, .took, .asked, .aggs[].times)'
}
data "$tmp/live.html" >"$tmp/live"
data "$tmp/run.html" >"$tmp/saved"
[ -s "$tmp/live" ] || wrong "the page has no data"
same "the live page and that of a saved run" "$tmp/live" "$tmp/saved"
for p in live run; do
	page "$p: flame" '16 boxes, 51 in all' flame "$tmp/$p.html" "$tmp/stacks"
	page "$p: bars" 'True 8' bars "$tmp/$p.html" "$tmp/text"
done
page "cut" $'0 False True\n3 True True' cut "$tmp/run.html"
# The same as a picture.
dt -q -x report="$tmp/live.svg" -n "$prog" -c "$bin/frames"
report -o "$tmp/run.svg" "$tmp/run.json"
same "pictures" "$tmp/live.svg" "$tmp/run.svg"

# Frames of languages.
cat >"$tmp/lines.py" <<'END'
import os

def inner(n):
    os.getpgid(n)

def outer():
    for i in range(3):
        inner(0)

outer()
END
dt -q -x report="$tmp/python.html" -x jstackframes=100 \
    -n 'pid$target:libc*:getpgid:entry { @[jstack()] = count(); }' \
    -c "/usr/bin/python3 -S $tmp/lines.py"
is "python: status" "$status" 0
page "languages" 'native 0 languages True fewer True ends []' languages \
    "$tmp/python.html"

# ---- over time ----

dt -q -x switchrate=1ms -x report="$tmp/time.html" -o "$tmp/text" -n '
	profile:::tick-3ms { n++; @t["x"] = count(); @t["y"] = count();
		@h = quantize(n); }
	profile:::tick-10ms { printa(@t); printa(@h); m++; }
	profile:::tick-10ms /m % 4 == 0/ { clear(@t); }
	profile:::tick-10ms /m == 20/ { exit(0); }'
is "over time: status" "$status" 0
page "lines" '20 points' lines "$tmp/time.html" "$tmp/text"
n=$(awk '/value  ---/ { n = 0 } /\|/ { n += $NF } END { print n }' "$tmp/text")
page "heat map" "$n in 20 columns" heat "$tmp/time.html" "$tmp/text"

# ---- slices ----

dt -q -x oformat=json -o "$tmp/slices.json" \
    -n 'pid$target:a.out::entry, pid$target:a.out::return { }' \
    -n 'pid$target:a.out:outer:entry { }' -c "$bin/slices"
report "$tmp/slices.json"
is "slices: status" "$status" 0
if [ -n "$chromium" ]; then
	timeout 300 python3 t/formats/report.py "$tmp/profile" slices \
	    "$tmp/slices.html" "$tmp/slices.json" >"$tmp/said" 2>&1
	hasnt "$tmp/said" wrong
	has "$tmp/said" "^1[0-9]+ {'work': \[0\], 'outer': \[1\], 'inner': \[2"
fi

# ---- two runs ----

less='pid$target:a.out:leaf:entry /arg0 != 0 && arg0 < 40/ {
	@s[execname, ustack()] = count();
	@n[strjoin("k", lltostr(arg0 & 3))] = count();
	@q[arg0 < 20] = quantize(arg0); }'
more='pid$target:a.out:leaf:entry { @s[execname, ustack()] = count();
	@n[strjoin("k", lltostr(arg0 & 3))] = count();
	@n["gone"] = count(); @q[arg0 & 3] = quantize(arg0); }'
dt -q -x oformat=json -o "$tmp/more.json" -n "$more" -c "$bin/frames"
dt -q -x oformat=json -o "$tmp/less.json" -n "$less" -c "$bin/frames"
report -o "$tmp/differs.html" "$tmp/less.json" "$tmp/more.json"
is "two runs: status" "$status" 0
page "two runs" "{'more': True, 'less': True}
gone ['frames\`over']
rows [['Keys by value', [['k1', '14'], ['k0', '11'], ['k2', '11'], ['k3', '11'], ['gone', '0']]]] ['−1', '−3', '±0', '±0', '−51']" \
    differs "$tmp/differs.html"

# ---- plockstat ----

"$PLOCKSTAT" -A -x report="$tmp/locks.html" "$bin/contend" >"$tmp/out" \
    2>"$tmp/err" </dev/null || wrong "plockstat"
has "$tmp/locks.html" '\["program","plockstat","'

# ---- what a target says ----

dt -q -x report="$tmp/hostile.html" -n 'BEGIN {
	@["</script><script>attacked = 1</script>"] = count();
	@["<img src=x onerror=attacked=1>"] = count(); @["<!--<script>"] = count();
	@["\342\200\256\033[31m\001\377"] = count(); exit(2); }'
is "hostile: status" "$status" 2
page "hostile" "2 undefined 0 2 ['<!--<script>', '</script><script>attacked = \
1</script>', '<img src=x onerror=attacked=1>', '��[31m�ÿ']" looks "$tmp/hostile.html"

# ---- what went wrong ----

dt -q -x oformat=json -o "$tmp/lost.json" -n 'BEGIN { trace(*(int *)0); }' \
    -n 'BEGIN { exit(0); }'
sed -i '$s/^/{"type":"drop","timestamp":1,"count":4,"total":4,"tag":"PRINC","msg":"4 drops"}\n/' \
    "$tmp/lost.json"
report "$tmp/lost.json"
failed="['error', 'invalid address (0x0) at DIF offset 4 at line 1, column 15', '1', 'PRINC', '4 drops', '4']"
page "lost" "Records1 Errors1 Dropped4 Status0 $failed []" facts "$tmp/lost.html"
head -n -1 "$tmp/lost.json" >"$tmp/short.json"
report "$tmp/short.json"
is "short: status" "$status" 0
has "$tmp/err" "^dtrap: $tmp/short.json has no end: the run was cut short\$"
page "short" "Records1 Errors1 Dropped4 Statusno end $failed ['The run has no \
end: it was cut short.']" facts "$tmp/short.html"
cat "$tmp/slices.json" "$tmp/lost.json" >"$tmp/two.json"
report -o "$tmp/two.html" - <"$tmp/two.json"
report -o "$tmp/two.html" "$tmp/two.json"
has "$tmp/err" "^dtrap: $tmp/two.json has 2 runs: the last is shown\$"
data "$tmp/two.html" >"$tmp/two"
data "$tmp/lost.html" >"$tmp/lost"
same "the last of two runs" "$tmp/lost" "$tmp/two"

# refused STATUS REGEX ARGS...
refused() {
	local want=$1 says=$2
	shift 2
	report "$@"
	is "report $*: status" "$status" "$want"
	has "$tmp/err" "^dtrap: $says"
}
last=$(wc -l <"$tmp/run.json")
head -c -40 "$tmp/run.json" >"$tmp/cut.json"
refused 1 "$tmp/cut.json: line $last: it is cut short; it is not, or" \
    "$tmp/cut.json"
sed '2s/"count"/count/' "$tmp/run.json" >"$tmp/bad.json"
refused 1 "$tmp/bad.json: line 2: it is no JSON" "$tmp/bad.json"
refused 1 "$tmp/bad.json: line 2: it is no JSON" "$tmp/run.json" "$tmp/bad.json"
refused 1 "$tmp/text: line 2: it is no JSON" "$tmp/text"
refused 1 '/dev/null: line 1: no run begins here' -o "$tmp/x.html" /dev/null
refused 1 "failed to open '$tmp/none.json': No such file" "$tmp/none.json"
refused 1 "failed to read '$tmp': Is a directory" -o "$tmp/x.html" "$tmp"
refused 1 "failed to write report '$tmp/no/x.html': No such file" \
    -o "$tmp/no/x.html" "$tmp/run.json"
refused 2 'report: no saved run is named'
refused 2 'report: at most two runs' a b c
refused 2 'unknown option -q' -q a
refused 2 'unknown option --quiet' --quiet a
refused 2 'option -o needs an argument' a -o
for f in cut bad none x; do
	[ ! -e "$tmp/$f.html" ] || wrong "$f.html was written"
done
report --help
is "help: status" "$status" 0
has "$tmp/out" '^Usage: dtrap report '
finish
