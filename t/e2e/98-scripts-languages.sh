#!/bin/bash
# timeout: 200
# Scripts about Java and Python, on programs that are known to the last call.
# shellcheck disable=SC2016 # names of Java's, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=t/e2e/scripts.sh
. t/e2e/scripts.sh
need readelf perl
LIMIT=150

in_python() {
	local py
	py=$(readlink -f /usr/bin/python3)
	[ -x "$py" ] || { echo "python3 is not installed"; return; }
	carries "$py" function__entry ||
	    { echo "python3 has no static probes here"; return; }
	cat >"$tmp/known.py" <<-'PY'
		def leaf(n):
		    return bytearray(n)

		def rec(n):
		    return leaf(100000) if n == 0 else rec(n - 1)

		rec(2)
		leaf(50000)
	PY
	script pycode.d -c "$py -I -S -B $tmp/known.py"
	is "pycode" "$(plain | sed -n 's/^\([a-z<>]*\) TMP\/known.py:\([0-9]*\)$/\1:\2/p' |
	    xargs)" "<module>:0 rec:4 rec:4 rec:4 leaf:1 leaf:1"

	# The two large blocks, by who asked for them.
	script pymalloc.d -c "$py -I -S -B $tmp/known.py"
	is "pymalloc" "$(awk '/\[ / { s = s $2 } /bytes$/ { if ($1 >= 50000) print s, $1 - $1 % 1000; s = "" }' \
	    "$tmp/out" | grep leaf | xargs)" \
	    "leaf<module> 50000 leafrecrecrec<module> 100000"
}

in_java() {
	local c java
	for c in java javac; do
		command -v $c >/dev/null || { echo "$c is not installed"; return; }
	done
	javac -J-XX:TieredStopAtLevel=1 -d "$tmp" t/workload/Greeter.java \
	    >"$tmp/javac.err" 2>&1 || fail "javac"
	# Four threads, three greetings each; each waits once for the monitor.
	java="java -XX:+UseSerialGC -cp $tmp"
	script hotspot.d -c "$java -XX:+DTraceMethodProbes -XX:+DTraceMonitorProbes Greeter 4 3"
	is "hotspot, methods" "$(plain | sed -n 's/^\(method-[a-z]*\) \[[ 0-9]*\] \(Greeter[^ ]*\)$/\2 \1/p' |
	    sort | uniq -c | awk '{ print $2, $3, $1 }' | tr '\n' ,)" \
	    'Greeter$Greeting.<init> method-entry 1,Greeter$Greeting.<init> method-return 1,Greeter$Greeting.greet method-entry 12,Greeter$Greeting.greet method-return 12,Greeter.<init> method-entry 4,Greeter.<init> method-return 4,Greeter.main method-entry 1,Greeter.main method-return 1,Greeter.run method-entry 4,Greeter.run method-return 4,'
	is "hotspot, threads" "$(plain | sed -n 's/^thread-\([a-z]*\) \[[ 0-9]*\] \(greeter [0-9]*\)$/\2 \1/p' |
	    sort | tr '\n' ,)" \
	    "greeter 1 start,greeter 1 stop,greeter 2 start,greeter 2 stop,greeter 3 start,greeter 3 stop,greeter 4 start,greeter 4 stop,"
	is "hotspot, monitors" "$(plain | sed -n 's/^monitor-contended-\(enter[a-z]*\) \[[ 0-9]*\] Greeter$Greeting$/\1/p' |
	    sort | uniq -c | awk '{ print $2, $1 }' | xargs)" "enter 4 entered 4"
	is "hotspot, each thread waits before it enters" "$(plain |
	    sed -n 's/^monitor-contended-\(enter[a-z]*\) \[ *\([0-9]*\)\] Greeter$Greeting$/\2 \1/p' |
	    awk '{ s[$1] = s[$1] $2 " " } END { for (t in s) print s[t] }' |
	    sort | uniq -c | xargs)" "4 enter entered"
	is "hotspot, classes" "$(plain | sed -n 's/^class-loaded \[???\] \(Greeter.*\)/\1/p' |
	    xargs)" 'Greeter Greeter$Greeting'
	has "$tmp/out" 'gc-begin full: 1$'
	has "$tmp/out" 'gc-end [0-9]+ us$'

	# Who writes?  The greetings, from the same place each time.
	dt -q -o "$tmp/trace" -c "$java -Xint Greeter 4 3" -n 'syscall::write:entry
	    /execname == "java" && strstr(copyinstr(arg1, arg2), "hello") != NULL/
	    { @[jstack(40)] = count(); }'
	is "jstack() at write" "$status $(grep -c 'Greeter\$Greeting.greet (Greeter.java:16)$' "$tmp/trace") $(sed -n '/./h; ${g;s/ //g;p}' "$tmp/trace")" \
	    "0 1 12"
	is "jstack(), who calls greet()" \
	    "$(grep -A 1 'Greeting.greet' "$tmp/trace" | tail -n 1 | xargs)" \
	    "Greeter.run (Greeter.java:32)"
}

in_python
in_java
finish
