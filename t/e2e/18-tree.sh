#!/bin/bash
# timeout: 300
# Every call of every process of a tree is counted, exactly, by probes of four
# providers at once; the program knows the numbers.  TORTURE=1 makes the crowds
# large and goes on for longer.  By trap, and with option fastpath.
. "${0%/*}/lib.sh"

forms=(fork vfork spawn thread orphan script other self clone sibling clone3
	daemon threads killed)
if [ -n "${TORTURE:-}" ]; then
	forms+=(crowd=1000 many=1000 fork=20000 threads=64 self=100 killed=100)
	forms+=("${forms[@]:0:14}")
else
	forms+=(crowd many)
fi

# fresh: a file for the counts, and the programs beside it
fresh() {
	rm -f "$tmp/counts"
	truncate -s 4096 "$tmp/counts"
	cp "$bin/tree-static" "$tmp/counts.other"
	printf '#!%s\n' "$bin/tree" >"$tmp/counts.script"
	chmod +x "$tmp/counts.script"
}

# One clause for each provider.
# shellcheck disable=SC2016
script='
	pid$target:a.out:work:entry { @entry[arg0] = count(); }
	pid$target:a.out:work:return { @return = count(); }
	tree*:::call { @usdt[arg0] = count(); }
	syscall::getpgid:entry /arg0 >= 0x70000000/
	{ @calls[(long)arg0 - 0x70000000] = count(); }
	proc:::start { @starts = count(); }
	END {
		printa("entry %d %@d\n", @entry); printa("return %@d\n", @return);
		printa("usdt %d %@d\n", @usdt); printa("syscall %d %@d\n", @calls);
		printa("processes %@d\n", @starts);
	}'

# check FILE SEEN: the program's counts and what dtrap printed
check() {
	awk 'NR == FNR && $1 == "processes" { print; next }
		NR == FNR && $1 != "ready" && NF == 2 {
			all += $2
			print "entry", $1, $2
			print "usdt", $1, $2
			print "syscall", $1, $2
		}
		END { print "return", all }' "$1" | sort >"$tmp/want"
	awk -v names="fork vfork spawn thread orphan script other self clone \
sibling clone3 daemon threads killed crowd many" 'BEGIN { split(names, of) }
		NF == 3 { $2 = of[$2 + 1] } NF { print }' "$2" |
	    sort >"$tmp/got"
	same "calls as made and as counted" "$tmp/want" "$tmp/got"
	hasnt "$1" '^child '
	[ "$(grep -c '^entry' "$tmp/want")" = 16 ] ||
	    wrong "forms: $(cat "$tmp/want")"
}

for fast in off on; do
	fresh
	rm -f "$tmp/trace"
	LIMIT=200 dt -Z -q -x fastpath=$fast -o "$tmp/trace" -n "$script" \
	    -c "$bin/tree $tmp/counts ${forms[*]}"
	is "launched, $fast: status" "$status" 0
	check "$tmp/out" "$tmp/trace"
	hasnt "$tmp/err" 'drop|error|internal|protected'

	fresh
	start tree "$bin/tree" "$tmp/counts" wait "${forms[@]}"
	line tree ready
	start_dt dt -Z -q -x fastpath=$fast -n "$script" -p "${pid[tree]}"
	tell tree go
	LIMIT=200
	end tree
	is "attached, $fast: target" "$status" 0
	end dt
	is "attached, $fast: status" "$status" 0
	check "$tmp/tree.out" <(grep -v armed "$tmp/dt.out")
	hasnt "$tmp/dt.err" 'drop|error|internal|protected'
done
finish
