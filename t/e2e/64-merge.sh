#!/bin/bash
# dtrap merge: recorded streams give what one run over all would have given;
# streams that are cut, repeated, damaged or none at all hold up nothing.
# timeout: 300
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need python3 jq
python3 -c 'import jsonschema' 2>/dev/null ||
    skip "python3-jsonschema is not installed"

# record NAME CALLS OPTION...: a stream of a host of that name.
record() {
	local name=$1 calls=$2
	shift 2
	dt -q -x oformat=snapshot -x "vmname=$name" -o "$tmp/$name" "$@" \
	    -c "$bin/threads $calls"
	is "$name: status" "$status" 0
}

# merge STREAM...: what it prints is in $tmp/out, its messages in $tmp/err.
merge() {
	timeout 60 "$DTRAP" merge "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
}

# ---- the sum of what each says alone ----

prog='pid$target:a.out:work:entry {
	@calls[probefunc] = count();
	@where[ustack(2)] = count();
	@by[ufunc(uregs[R_PC])] = sum(2);
	@least = min(arg0); @most = max(arg0); @mean = avg(arg0);
	@spread = stddev(arg0);
	@q = quantize(arg0); @l[1] = lquantize(arg0, 0, 1000, 100);
	@ll = llquantize(arg0, 10, 0, 4, 10); }
BEGIN { printf("begin %d\n", 40 + 2); }
END { printa("%s %@d calls\n", @calls); printf("end\n"); }'
for n in a:800 b:400 c:1200; do
	record "${n%:*}" "${n#*:}" -n "$prog"
	has "$tmp/${n%:*}" '^\^dt1 [0-9a-f]+ 0 H '
done
merge "$tmp"/{a,b,c}
is "merge: status" "$status" 0
is "merge: messages" "$(cat "$tmp/err")" ''
is "begin, once" "$(grep -c '^begin 42$' "$tmp/out")" 1
is "end, once" "$(grep -c '^end$' "$tmp/out")" 1
has "$tmp/out" '^work 2400 calls$'
has "$tmp/out" '^ *a.out`work +4800$|^ *threads`work +4800$'
# In one process, with all calls: min, max and so on are of the largest number.
cp "$tmp/out" "$tmp/merged"
merge -x oformat=json "$tmp"/{a,b,c}
is "json: least" "$(jq '.["aggregation-data"][0].min | values' "$tmp/out")" 0
is "json: most" "$(jq '.["aggregation-data"][0].max | values' "$tmp/out")" 1199
# 0..799, 0..399 and 0..1199, added up.
total=$((799 * 400 + 399 * 200 + 1199 * 600))
is "json: mean" "$(jq -c '.["aggregation-data"][0] | select(.avg) |
    [.count, .total]' "$tmp/out")" "[2400,$total]"
is "json: buckets" "$(jq -c '.["aggregation-data"][0].buckets | values |
    map(.count) | add' "$tmp/out" | sort -u)" 2400
is "json: host" "$(jq -r 'select(.type == "probe") | .host // "here"' \
    "$tmp/out" | sort -u | tr '\n' ' ')" "a here "
jq -e -s '.[-1].status == 0' "$tmp/out" >/dev/null || wrong "json: status"
python3 -W ignore t/formats/jsonlines.py "$tmp/out" >"$tmp/wrong" ||
    wrong "json: $(head -n 20 "$tmp/wrong")"

# All in one, in any order, and with what a transport puts before a line.
sed 's/^/web-01: /' "$tmp/a" >"$tmp/labelled"
cat "$tmp"/{c,b} - <"$tmp/labelled" >"$tmp/all"
timeout 60 "$DTRAP" merge - <"$tmp/all" >"$tmp/out" 2>"$tmp/err"
is "many on one: messages" "$(cat "$tmp/err")" ''
same "many on one" "$tmp/merged" "$tmp/out"
paste -d '\n' "$tmp"/{a,b,c} | timeout 60 "$DTRAP" merge - >"$tmp/out" 2>"$tmp/err"
is "interleaved: messages" \
    "$(grep -v 'no part of a stream' "$tmp/err")" ''
same "interleaved" "$tmp/merged" "$tmp/out"

# Formats: a profile in one is the same profile in the other.
merge -x oformat=folded "$tmp"/{a,b,c}
is "folded" "$(awk '/work [0-9]+$/ { n += $NF } END { print n }' \
    "$tmp/out")" 2400
merge -q "$tmp"/{a,b,c}
has "$tmp/out" '^ +a.out`work|^ +threads`work$'

# ---- one stream is one run ----

for f in text json folded; do
	record alone 80 -x snaprate=1ms -n 'pid$target:a.out:work:entry {
		@[ustack()] = count(); @q[pid != 0] = quantize(arg0); }'
	merge -q -x "oformat=$f" "$tmp/alone"
	is "$f: status" "$status" 0
	[ -s "$tmp/out" ] || wrong "$f: nothing"
done

# ---- ticks, where the streams' time says ----

# The program's own clock decides how many there are; what they print adds up.
record slow 80 -x snaprate=10ms -n 'pid$target:a.out:work:entry {
	@n = count(); @m = min(1000 - arg0); } tick-10ms { printa("tick %@d\n", @n);
	printa("min %@d\n", @m); clear(@n); clear(@m); }
    END { printa("tick %@d\n", @n); }'
merge "$tmp/slow"
is "ticks" "$(awk '/^tick/ { n += $2 } END { print n }' "$tmp/out")" 80

# ---- streams that are none, or not whole ----

merge "$tmp"/{a,b} /dev/null
is "an empty one: status" "$status" 0
has "$tmp/out" '^work 1200 calls$'
head -n -1 "$tmp/b" >"$tmp/cut"
merge "$tmp"/{a,cut}
is "cut: status" "$status" 1
has "$tmp/err" '^dtrap: b: ended without its last line'
has "$tmp/out" '^work 1200 calls$'
sed '/ T /d' "$tmp/b" >"$tmp/lost"
merge "$tmp"/{a,lost}
has "$tmp/err" '^dtrap: b: lines are missing'
has "$tmp/err" '^dtrap: b: [0-9]+ lines were missing$'
sed 's/ K 1 0 1 /&1/' "$tmp/b" >"$tmp/damaged"
merge "$tmp"/{a,damaged}
has "$tmp/err" '^dtrap: b: a line is damaged: it is left out$'
has "$tmp/out" '^work 800 calls$'
cat "$tmp"/{b,b} >"$tmp/twice"
merge "$tmp"/{a,twice}
has "$tmp/out" '^work 1200 calls$'
merge "$tmp"/{a,b,b}
has "$tmp/out" '^work 1200 calls$'
echo hello >"$tmp/hello"
merge "$tmp"/{a,hello}
has "$tmp/err" 'hello: text that is no part of a stream is left out$'
is "no stream: status" "$status" 0
merge "$tmp/hello"
is "nothing but text: status" "$status" 1
has "$tmp/err" '^dtrap: no stream has begun$'
sed 's/^^dt1/^dt2/' "$tmp/b" >"$tmp/version"
merge "$tmp"/{a,version}
has "$tmp/err" 'version: a stream of another version of dtrap'
merge "$tmp/nothing"
is "no file: status" "$status" 1
has "$tmp/err" 'failed to open .*/nothing: No such file'
# Of another program.
record other 8 -n 'pid$target:a.out:work:entry { @calls[probefunc] = sum(1); }'
merge "$tmp"/{a,other}
has "$tmp/err" '^dtrap: other: refused: its aggregations are not those'
has "$tmp/out" '^work 800 calls$'

# What a stream says must not be done here: options, files, commands.
record evil 8 -w -x aggsortrev -n 'BEGIN { freopen("'"$tmp/made"'"); }
    tick-1ms { system("touch '"$tmp/touched"'"); }
    pid$target:a.out:work:entry { @ = count(); }'
merge "$tmp/evil"
is "destructive: status" "$status" 1
has "$tmp/err" 'destructive actions: -w allows them here'
[ ! -e "$tmp/touched" ] || wrong "a stream's command has run"
[ ! -e "$tmp/made" ] || wrong "freopen() has left the stream"

# Text of a host is escaped where messages are.
record $'esc\e[31m' 8 -n 'pid$target:a.out:work:entry { @ = count(); }'
head -n -1 "$tmp"/esc* >"$tmp/cut"
merge "$tmp/cut"
has "$tmp/err" '^dtrap: esc\\033\[31m: ended'

# ---- aggmax ----

for n in 1 2; do
	python3 t/bench/streams.py "$tmp" 2 2000 2
done
merge -x aggmax=64k -o "$tmp/few" "$tmp"/000?
has "$tmp/err" 'aggregation drops beyond aggmax$'
[ "$(wc -l <"$tmp/few")" -lt 1000 ] || wrong "aggmax is not kept to"
merge "$tmp"/000?
is "bench: rows" "$(grep -c ' 4$' "$tmp/out")" 2000

# ---- a host in front of a description ----

for n in web-01 web-02 db-7; do
	record $n 8 -n 'web-*:pid$target:a.out:work:entry { @web = count(); }
	    db-*:pid$target:a.out:work:entry, db-*:dtrace:::BEGIN { @db = count(); }
	    pid$target:a.out:work:entry { @all = count(); }
	    END { printa("web %@d\n", @web); printa("db %@d\n", @db);
		printa("all %@d\n", @all); }'
done
merge "$tmp"/{web-01,web-02,db-7}
is "hosts: messages" "$(cat "$tmp/err")" ''
has "$tmp/out" '^web 16$'
has "$tmp/out" '^db 9$'
has "$tmp/out" '^all 24$'
dt -x oformat=snapshot -x vmname=web-01 -n 'web-*:profile:::tick-1s { }'
is "a host of a tick: status" "$status" 1
has "$tmp/err" 'it is of no host, but of where the hosts are merged$'

# ---- the other end: all of it on request, and the end ----

start w "$DTRAP" -x oformat=snapshot -x heartbeat=1m -x snaprate=20ms \
    -n 'BEGIN { @ = sum(3); }'
line w ' K 1 0 1 3 '
tell w whole
line w ' W '
line w ' K 1 0 1 3 '
close_in w
end w
is "the other end has gone: status" "$status" 0
has "$tmp/w.out" ' Z 0 '
timeout 60 "$DTRAP" merge - <"$tmp/w.out" >"$tmp/out" 2>/dev/null
is "all of it, once" "$(tr -d ' \n' <"$tmp/out")" 3
# Nobody is there, and nothing is closed.
start w "$DTRAP" -x oformat=snapshot -x heartbeat=300ms -n 'BEGIN { @ = sum(3); }'
end w
has "$tmp/w.err" 'no heartbeat has come'

# ---- a transport that is no network: what a launched program reads and writes ----

dt -q -H here,there -x 'rsh=env HOST=%h' -x "rdtrap=$DTRAP" \
    -n 'syscall::write:entry /execname == "sh"/ { @ = count(); }' \
    -c "sh -c 'cat; echo out'"
is "launched: status" "$status" 0
has "$tmp/err" '^dtrap: here: out$'
has "$tmp/err" '^dtrap: there: out$'
hasnt "$tmp/err" 'no part of a stream'
is "launched: writes" "$(tr -d ' \n' <"$tmp/out")" 2

# ---- what is divided, and what cannot be ----

dt -x oformat=snapshot -n 'BEGIN { total = 1; }
    tick-1s { printf("%d\n", total); }'
is "a variable of the hosts: status" "$status" 1
has "$tmp/err" 'tick-1s runs where the hosts are merged, and reads .* total,'

finish
