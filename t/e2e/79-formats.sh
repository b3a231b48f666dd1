#!/bin/bash
# -x oformat=folded, pprof, chrome, prometheus: each is read back by a tool of
# its own, and its numbers are those of the text.
# timeout: 600
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need python3 jq go promtool

# sum FILE: of the last field of each line.
sum() {
	awk '{ n += $NF } END { print n + 0 }' "$1"
}

# ---- stacks: the text, the folded text, folded, pprof ----

prog='pid$target:a.out:leaf:entry { @calls[ustack()] = count(); }'
dt -q -x stackformat=folded -n "$prog" -c "$bin/frames"
sed '/^$/d' "$tmp/out" | sort >"$tmp/text"
is "text: calls" "$(sum "$tmp/text")" 51
dt -q -x oformat=folded -n "$prog" -c "$bin/frames"
is "folded: status" "$status" 0
is "folded: messages" "$(grep -v 'has exited$' "$tmp/err")" ''
sort "$tmp/out" >"$tmp/folded"
same "folded" "$tmp/text" "$tmp/folded"

# -o replaces the file: it is one profile.
for i in 1 2; do
	dt -q -x oformat=pprof -o "$tmp/profile" -n "$prog" -c "$bin/frames"
done
is "pprof: status" "$status" 0
go_offline "$tmp/gocache"
HOME=$tmp go tool pprof -symbolize=none -raw "$tmp/profile" >"$tmp/raw" \
    2>"$tmp/go.err" || wrong "go tool pprof: $(cat "$tmp/go.err")"
python3 t/formats/pprof.py 0 "$tmp/raw" | sort >"$tmp/pprof"
sed 's/[^ ;`]*`//g' "$tmp/text" | sort >"$tmp/functions"
same "pprof" "$tmp/functions" "$tmp/pprof"
has "$tmp/raw" '^@calls/count'
HOME=$tmp go tool pprof -symbolize=none -top "$tmp/profile" >"$tmp/top" \
    2>/dev/null
has "$tmp/top" 'Total samples = 51 *$'
has "$tmp/top" '^ *51 +100% +100% +51 +100% +leaf$'

# Several aggregations, other members of keys, and what has no stack.
prog='pid$target:a.out:leaf:entry { @n[execname, ustack(), 7] = count();
	@all[ustack()] = sum(arg0 < 100 ? arg0 : 0); @none[ustack()] = sum(-1);
	@max[ustack()] = max(arg0); @q = quantize(arg0); trace(arg0); }'
dt -q -x oformat=folded -n "$prog" -c "$bin/frames"
grep '^@n;frames;.*;7 [0-9]*$' "$tmp/out" >"$tmp/n"
is "folded: @n" "$(sum "$tmp/n")" 51
grep '^@all;' "$tmp/out" >"$tmp/all"
is "folded: @all" "$(sum "$tmp/all")" $((2 * 45 + 435))
is "folded: lines" "$(wc -l <"$tmp/out")" \
    $(($(wc -l <"$tmp/n") + $(wc -l <"$tmp/all")))
has "$tmp/err" '^dtrap: [0-9]* values of @none below 0 left out$'
has "$tmp/err" '^dtrap: @max is left out: the format folded has only count'
has "$tmp/err" '^dtrap: @q is left out: '
has "$tmp/err" '^dtrap: the output of 51 statements is left out: '
dt -q -x oformat=pprof -o "$tmp/profile" -n "$prog" -c "$bin/frames"
HOME=$tmp go tool pprof -symbolize=none -raw "$tmp/profile" >"$tmp/raw" 2>&1
python3 t/formats/pprof.py 0 "$tmp/raw" >"$tmp/pprof"
is "pprof: @n" "$(sum "$tmp/pprof")" 51
python3 t/formats/pprof.py 1 "$tmp/raw" >"$tmp/pprof"
is "pprof: @all" "$(sum "$tmp/pprof")" $((2 * 45 + 435))
has "$tmp/raw" 'key0:\[frames\]'
has "$tmp/raw" 'key2:\[7\]'
# Nothing was traced: a profile, though an empty one.
dt -q -x oformat=pprof -o "$tmp/profile" -n 'BEGIN { exit(0); }'
HOME=$tmp go tool pprof -raw "$tmp/profile" >"$tmp/raw" 2>&1
has "$tmp/raw" 'profile has no samples$'

# ---- chrome ----

probes='pid$target:a.out:inner:entry,pid$target:a.out:inner:return,
    pid$target:a.out:outer:entry,pid$target:a.out:outer:return,
    pid$target:a.out:around:entry,pid$target:a.out:around:return,
    pid$target:a.out:jumper:entry,pid$target:a.out:jumper:return,
    pid$target:a.out:main:entry,pid$target:a.out:main:return'
prog="$probes"' { trace(arg1); }
    pid$target:a.out:outer:entry { printf("again"); }
    pid$target:a.out:ending:entry { trace(1); @q = quantize(5); @q = quantize(9);
	@calls["a", "b"] = sum(3); printa(@calls); clear(@calls); }
    pid$target:a.out:inner:entry { @inner = count(); }'
dt -q -x oformat=chrome -o "$tmp/trace" -n "$prog" -c "$bin/slices"
is "chrome: status" "$status" 0
python3 t/formats/chrome.py "$tmp/trace" >"$tmp/seen" 2>&1 ||
    wrong "chrome: $(cat "$tmp/seen")"
sed -E 's/^slice [0-9]+:[0-9]+/slice/' "$tmp/seen" >"$tmp/chrome"
cat >"$tmp/want" <<'END'
slice around 0 1
slice around 0 1
slice inner 1 40
slice inner 1 40
slice inner 2 1
slice inner 2 1
slice jumper 1 1
slice jumper 1 1
slice main 0 1
slice outer 0 20
slice outer 0 20
instant ending:entry 1
instant outer:entry 40
no-return inner 2
no-return jumper 2
unfinished main 1
counter @calls a b value 3
counter @inner value 82
counter @q 16 0
counter @q 2 0
counter @q 4 1
counter @q 8 1
END
sort "$tmp/want" >"$tmp/sorted"
sort "$tmp/chrome" >"$tmp/chrome.sorted"
same "chrome" "$tmp/sorted" "$tmp/chrome.sorted"
# Three threads have slices; the text has as many entries.
is "chrome: threads" "$(sed -n 's/^slice \([0-9:]*\) .*/\1/p' "$tmp/seen" |
    sort -u | wc -l)" 3
dt -x oformat=text -o "$tmp/text" -n "$prog" -c "$bin/slices"
is "chrome: slices" "$(jq '[.traceEvents[] | select(.ph == "B")] | length' \
    "$tmp/trace")" "$(grep -cE ' (inner|outer|around|jumper|main):entry +-?[0-9]' \
    "$tmp/text")"
is "chrome: output" "$(jq -c '[.traceEvents[] | select(.ph == "i").args.output
    ] | unique' "$tmp/trace")" '[[{"message":"again"}],[{"value":1}]]'
# An error and a drop are events, too.
dt -q -x oformat=chrome -o "$tmp/trace" -x aggmax=64 -n 'BEGIN { @[1] = count();
	@[2] = count(); @[3] = count(); x = 0; trace(1 / x); }
	BEGIN { exit(0); }'
python3 t/formats/chrome.py "$tmp/trace" >"$tmp/seen" 2>&1 ||
    wrong "chrome: $(cat "$tmp/seen")"
has "$tmp/seen" '^instant error 1$'
is "chrome: drops" "$(jq '[.traceEvents[] | select(.name == "drop").args.count] |
    add' "$tmp/trace")" \
    "$(awk '/ aggregation drops? beyond/ { n += $2 } END { print n + 0 }' \
	"$tmp/err")"

# ---- prometheus ----

# samples FILE: without comments and what dtrap says of itself.
samples() {
	grep -v '^#\|^dtrap_self_' "$1"
}

prog='pid$target:a.out:leaf:entry { @calls[probefunc, "a \"b\"\\"] = count();
	@bytes = sum(arg0 < 100 ? arg0 : -1); @sizes[execname] = lquantize(arg0, 0,
	20, 10); @zones = llquantize(arg0, 10, 0, 2, 10); @mean = avg(1000); }
    END { normalize(@mean, 10); }'
dt -q -x oformat=prometheus -o "$tmp/metrics" -n "$prog" -c "$bin/frames"
is "prometheus: status" "$status" 0
promtool check metrics <"$tmp/metrics" >"$tmp/promtool" 2>&1 ||
    wrong "promtool: $(cat "$tmp/promtool")"
is "promtool" "$(cat "$tmp/promtool")" ''
samples "$tmp/metrics" | grep -v zones >"$tmp/got"
cat >"$tmp/want" <<'END'
dtrap_calls_total{key0="leaf",key1="a \"b\"\\"} 51
dtrap_bytes 524
dtrap_sizes_bucket{key0="frames",le="-1"} 0
dtrap_sizes_bucket{key0="frames",le="9"} 30
dtrap_sizes_bucket{key0="frames",le="19"} 40
dtrap_sizes_bucket{key0="frames",le="+Inf"} 51
dtrap_sizes_count{key0="frames"} 51
dtrap_mean 100
END
same "prometheus" "$tmp/want" "$tmp/got"
dt -q -n "$prog" -c "$bin/frames"
# The same numbers as the text's, whose buckets are not cumulated.
text=$(awk '/\|/ { n += $NF } END { print n }' "$tmp/out")
is "prometheus: buckets" "$(awk '/_count/ { n += $NF } END { print n }' \
    "$tmp/metrics")" "$text"
has "$tmp/out" '^ +524$'

# Keys that look alike are samples of their own; text of any bytes.
dt -q -x oformat=prometheus -n 'BEGIN { @odd["\377"] = count();
	@odd["\376"] = count(); @odd["\n\t\033"] = count(); exit(0); }'
promtool check metrics <"$tmp/out" >"$tmp/promtool" 2>&1 ||
    wrong "promtool: $(cat "$tmp/promtool")"
is "prometheus: alike" "$(grep -c '^dtrap_odd_total' "$tmp/out")" 3

# At each printa() the file is whole, with what was printed; it is replaced, and
# keeps its mode.  Nothing else is left beside it.
mkfifo "$tmp/ticks" "$tmp/go"
mkdir "$tmp/collected"
file=$tmp/collected/dtrap.prom
echo old >"$file"
chmod 640 "$file"
exec {before}<"$file"
start_null ticks "$DTRAP" -qw -x oformat=prometheus -o "$file" -n '
    tick-10ms { @ticks = count(); }
    tick-10ms /++n % 5 == 0/ { printa(@ticks); clear(@ticks); }
    tick-10ms /n % 5 == 0/ { system("echo tick > '"$tmp/ticks; read x < $tmp/go"'"); }
    tick-10ms /n == 15/ { exit(0); }'
ticks=0
for i in 1 2 3; do
	read -r -t "${LIMIT:-60}" word <"$tmp/ticks" || fail "no tick $i"
	is "tick" "$word" tick
	promtool check metrics <"$file" >"$tmp/promtool" 2>&1 ||
	    wrong "tick $i: $(cat "$tmp/promtool")"
	has "$file" '^dtrap_ticks_total [0-9]+$'
	ticks=$((ticks + $(samples "$file" | cut -d' ' -f2)))
	samples "$file" >"$tmp/last"
	echo go >"$tmp/go"
done
end ticks
is "ticks: status" "$status" 0
# How many a printa() sees depends on when the buffers are read.
is "ticks" "$ticks" 15
same "the end" "$tmp/last" <(samples "$file")
is "the old file" "$(cat <&"$before")" old
exec {before}<&-
is "mode" "$(stat -c %a "$file")" 640
is "beside it" "$(ls "$tmp/collected")" dtrap.prom
# A pipe gets it once, at the end.
is "pipe" "$("$DTRAP" -q -x oformat=prometheus -n 'tick-10ms { @n = count();
    printa(@n); } tick-10ms /i++ == 3/ { exit(0); }' | grep -c '^dtrap_n_total')" 1
# What cannot be written is an error.
dt -q -x oformat=prometheus -o /dev/full -n 'BEGIN { @n = count(); exit(0); }'
is "full: status" "$status" 1
finish
