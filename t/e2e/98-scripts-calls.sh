#!/bin/bash
# Scripts about memory, functions and threads.
# shellcheck disable=SC2016 # symbols, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=t/e2e/scripts.sh
. t/e2e/scripts.sh

# Three blocks of 100 bytes, and the one that grew, are not freed.
script leaks -c "$bin/work-memory 3 20"
sed -n '/work-memory`\|bytes/p' "$tmp/out" >"$tmp/got"
cat >"$tmp/want" <<'END'
5300 bytes in 4 blocks, from 2 stacks
5000 bytes in 1 blocks from
    work-memory`grown
    work-memory`main
    work-memory`_start
300 bytes in 3 blocks from
    work-memory`kept
    work-memory`main
    work-memory`_start
END
same leaks "$tmp/want" "$tmp/got"
script leaks -n 1 -c "$bin/work-memory 2 0"
is "leaks -n" "$(grep -c ' from$' "$tmp/out")" 1
timeout 60 scripts/leaks >"$tmp/out" 2>"$tmp/err"
is "leaks, usage" "$? $(grep -c '^usage: leaks ' "$tmp/err")" "2 1"

script mallocs.d -c "$bin/work-memory 3 20"
is "mallocs, sizes" "$(sed -n '/value/,/^$/s/[|@]//gp' "$tmp/out" |
    awk '$2 > 0 && NR > 1 { print $1, $2 }' | xargs)" "8 1 64 3 2048 20 4096 1"
is "mallocs, by stack" "$(grep -E 'work-memory`(kept|freed|grown)|bytes$' \
    "$tmp/out" | sed 's/+0x.*//' | xargs)" \
    'work-memory`grown 10 bytes work-memory`kept 300 bytes work-memory`grown 5000 bytes work-memory`freed 60000 bytes'

# outer() spends at least 4 ms of which none is its own; slow() 2, inner() 1.
script functime.d -c "$bin/work-calls 5" a.out 'outer'
is "functime, alone" "$(plain | awk '$1 == "outer" { print $2, ($3 >= 20000), ($3 == $4) }')" \
    "5 1 1"
script functime.d -c "$bin/work-calls 5" a.out '[osi]*'
plain >"$tmp/flat"
is "functime, counts" "$(awk '/^(outer|slow|inner) / { print $1, $2 }' \
    "$tmp/flat" | sort | xargs)" "inner 10 outer 5 slow 5"
is "functime, inclusive is the sum of what is below and itself" \
    "$(awk '{ n[$1] = $3; x[$1] = $4 } END { 
	d = n["outer"] - x["outer"] - n["inner"] - n["slow"]
	print (d > -10 && d < 10) }' "$tmp/flat")" 1
# Another program may have the processor in the middle of outer(), but not in
# the middle of it every time.
for _ in {1..20}; do
	own=$(awk '$1 == "outer" { print ($4 < $3 / 4) }' "$tmp/flat")
	[ "$own" != 1 ] || break
	script functime.d -c "$bin/work-calls 5" a.out '[osi]*'
	plain >"$tmp/flat"
done
is "functime, outer itself does next to nothing" "$own" 1

# What exceptions have left is neither counted nor waited for.
need g++
g++ -g -O1 -o "$tmp/shelf" doc/examples/shelf.cc || fail "shelf.cc"
script functime.d -c "$tmp/shelf" a.out 'shop::Shelf::*'
is "functime, exceptions" "$(plain | awk '/^shop/ { print $1, $2, ($3 == $4), ($3 > 0) }' |
    sort | xargs)" "shop::Shelf::put 2 1 1 shop::Shelf::take 7 1 1"

script slowfunc.d -c "$bin/work-calls 2" a.out slow 2000
is "slowfunc, all" "$(grep -c '^slow(' "$tmp/out")" 2
has "$tmp/out" '^slow\(0x1, .*\) = 0x[0-9a-f]+: [0-9]+ us, thread'
has "$tmp/out" '^slow\(0x2, '
is "slowfunc, stacks" "$(grep -c 'work-calls`outer+' "$tmp/out")" 2
script slowfunc.d -c "$bin/work-calls 2" a.out slow 100000000
hasnt "$tmp/out" '^slow\('
is "slowfunc, distribution" "$(awk '/\|/ { n += $NF } END { print n }' "$tmp/out")" 2

script latency.d -c "$bin/work-calls 3" a.out slow
has "$tmp/out" '^3 calls, mean [0-9]+ us, least [0-9]+ us, most [0-9]+ us$'
hasnt "$tmp/out" '^ *[0-9]+$' # of a second that is not over
is "latency" "$(awk '/ calls, / { print ($7 >= 2000), ($7 <= $4), ($4 <= $10) }' \
    "$tmp/out")" "1 1 1"

# A tree of calls with what each returned.
script callgraph.d -c "$bin/work-calls 1" a.out outer
awk '/(->|<-|\|) (outer|inner|slow)/ { sub(/^ *[0-9]+ /, ""); sub(/ +-?[0-9]+$/, ""); sub(/ +$/, ""); print }' \
    "$tmp/out" >"$tmp/got"
cat >"$tmp/want" <<'END'
 -> outer
   -> inner
   <- inner
   -> slow
   <- slow
   -> inner
   <- inner
 <- outer
END
same callgraph "$tmp/want" "$tmp/got"

# The busy function, and that it is nobody else.
script cpuprof.d -c "$bin/work-calls 100"
is "cpuprof, thread" "$(plain | awk '$1 == "work-calls" { print ($2 == $3), ($4 > 0) }')" "1 1"
# A sample may fall into the start or the end of the program, but not each time.
for _ in {1..20}; do
	script hotstacks.d -c "$bin/work-calls 100"
	below=$(awk '/samples/ { n++ } /`main\+/ { m++ }
	    END { print (n > 0 && n == m) }' "$tmp/out")
	[ "$below" != 1 ] || break
done
is "hotstacks, all below main" "$below" 1

# Each item is put once, and taken once; each worker looks once more.
work="$bin/work-handoff 5 3"
script pthread.d -c "$work"
is "pthread, locks" "$(grep -cE 'pthread_mutex_lock:return .*(put|take)\+' "$tmp/out")" 14
is "pthread, unlocks" "$(grep -c 'pthread_mutex_unlock:entry .*handoff' "$tmp/out")" 14
is "pthread, broadcasts" "$(grep -c 'pthread_cond_broadcast:entry .* from work-handoff`put' "$tmp/out")" 6
is "pthread, threads" "$(grep -cE 'pthread_create [0-9a-f]+ work-handoff`work\(0\) = 0$' "$tmp/out")" 3
is "pthread, joins" "$(grep -o 'pthread_join.*' "$tmp/out" | sort | uniq -c | awk '{ print $1 }' | xargs)" "1 1 1 1 1 1"

script mtxtime.d -c "$work"
is "mtxtime, stacks" "$(awk '/`(put|take)\+/ { at = $1; sub(/.*`/, "", at); sub(/\+.*/, "", at) }
    /\|/ && at != "" { n[at] += $NF } /^$/ { if (seen) at = ""; seen = at != "" }
    END { print n["put"], n["take"] }' "$tmp/out")" "6 8"
finish
