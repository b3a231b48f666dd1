#!/bin/bash
# timeout: 240
# The hottest functions of a busy Python and a busy Java program: dtrap and perf
# name the same ones, with about the same shares.
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "${0%/*}/lib.sh"
need perf
need_attach

# What perf gives a tenth of the time must be among dtrap's first ten, and no
# further from it than this many points.  Both see a few thousand samples, not
# the same ones, on a machine that may be busy; and perf gives what was inlined
# to the function around it.
NEAR=12

# by_perf PID: "SHARE NAME", the most first, of the innermost functions outside
# of the kernel.
by_perf() {
	perf record -q -e cpu-clock -F 997 -g -p "$1" -o "$tmp/data" -- \
	    timeout 3 tail -f /dev/null >"$tmp/perf.log" 2>&1
	perf script -i "$tmp/data" -F ip,sym 2>"$tmp/perf.log" |
	    sed 's/^[ \t]*//' | awk '
	    /^$/ { if (leaf != "") print leaf; leaf = ""; next }
	    leaf == "" && ! /^ffff/ { sub(/^[0-9a-f]+ /, ""); leaf = $0 }' |
	    sed 's/(.*//; s/.* //; s/.*unknown.*/?/' | shares >"$tmp/perf"
	[ -s "$tmp/perf" ] || skip "perf does not work here"
}

by_dtrap() {
	rm -f "$tmp/folded"
	dt -q -x stackformat=folded -o "$tmp/folded" -n '
	    profile-997 /pid == $target/ { @[jstack(1)] = count(); n++; }
	    profile-997 /n >= 2500/ { exit(0); }
	    BEGIN { n = 0; }' -p "$1"
	is "status" "$status" 0
	grep . "$tmp/folded" | awk '{
	    n = $NF; $NF = ""; sub(/^.*;/, ""); sub(/^.*`/, ""); sub(/ $/, "")
	    if (/^(0x|sub_[0-9a-f]+$)/) $0 = "?" # perf has no name for it
	    while (n-- > 0) print }' | shares >"$tmp/dt"
}

shares() {
	sort | uniq -c | awk '{ n[$2] = $1; all += $1 }
	    END { for (f in n) printf "%.1f %s\n", 100 * n[f] / all, f }' |
	    sort -rn
}

compare() {
	head -n 10 "$tmp/dt" >"$tmp/ten"
	awk -v what="$1" -v near=$NEAR 'NR == FNR { dt[$2] = $1; next }
	    $1 >= 10 && !($2 in dt) { print what ": " $0 " is not among the ten"; next }
	    $1 >= 10 { d = dt[$2] - $1
		if (d > near || d < -near)
			print what ": " $0 ", but " dt[$2] }' \
	    "$tmp/ten" "$tmp/perf" >"$tmp/far"
	paste <(head -n 5 "$tmp/perf") <(head -n 5 "$tmp/dt")
	while IFS= read -r line; do wrong "$line"; done <"$tmp/far"
	# A comparison of nothing is none.
	[ "$(awk '$1 >= 10' "$tmp/perf" | wc -l)" -ge 2 ] ||
	    wrong "$1: perf sees nothing that is hot"
}

py=$(readlink -f /usr/bin/python3)
if [ -x "$py" ]; then
	cat >"$tmp/busy.py" <<-'PY'
		import json
		d = {"a": [1, 2, {"x": "y" * 50}] * 20}
		def fib(n):
		    return n if n < 2 else fib(n - 1) + fib(n - 2)
		print("ready", flush=True)
		while True:
		    json.loads(json.dumps(d))
		    fib(15)
		    sorted(range(2000, 0, -1))
		    "".join(map(str, range(5000)))
	PY
	start_null python "$py" -I -S -B "$tmp/busy.py"
	line python ready
	by_perf "${pid[python]}"
	by_dtrap "${pid[python]}"
	compare Python
	alive python
else
	echo "python3 is not installed"
fi

if command -v javac >/dev/null && command -v jcmd >/dev/null; then
	cat >"$tmp/Busy.java" <<-'JAVA'
		import java.util.*;
		class Busy {
			static long sink;
			static void sort() {
				int[] a = new int[50000];
				for (int i = 0; i < a.length; i++)
					a[i] = (i * 7919) % 10007;
				Arrays.sort(a);
				sink += a[3];
			}
			static void maps() {
				HashMap<Integer, String> m = new HashMap<>();
				for (int i = 0; i < 2000; i++)
					m.put(i * 7, "v" + i);
				sink += m.size();
			}
			public static void main(String[] x) {
				for (int n = 0; ; n++) {
					sort();
					maps();
					// Compiled by then.
					if (n == 3000)
						System.out.println("ready");
				}
			}
		}
	JAVA
	(cd "$tmp" && javac -J-XX:TieredStopAtLevel=1 Busy.java) \
	    >"$tmp/javac.err" 2>&1 || fail "javac"
	start_null java java -XX:+UseSerialGC -cp "$tmp" Busy
	line java ready
	# dtrap needs no such file, and is not to use it.
	by_dtrap "${pid[java]}"
	(apart jcmd "${pid[java]}" Compiler.perfmap) >"$tmp/jcmd.out" 2>&1 ||
	    fail "jcmd"
	by_perf "${pid[java]}"
	rm -f "/tmp/perf-${pid[java]}.map"
	compare Java
	alive java
else
	echo "java is not installed"
fi
finish
