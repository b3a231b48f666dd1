#!/bin/bash
# timeout: 300
# jstack() of Node against what V8 says of the same stack: functions, files and
# lines of every frame, whatever runs them.  What V8 says and jstack() does not:
# names that are computed when the program runs, as of [Symbol.iterator]() {},
# and asynchronous callers, which are no frames.  What only jstack() says:
# functions of the program in C++, as runMicrotasks.
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_attach
node=${NODE:-$(command -v node || command -v nodejs)}
[ -n "$node" ] || skip "node is not installed"
v8=$("$node" -p 'process.versions.v8.split(".").slice(0, 2).join(".")')
case $v8 in
10.2 | 11.3) ;;
*) skip "stacks of V8 $v8, of this node, are not known" ;;
esac
js=$PWD/t/e2e/src/stacks.js

# Frames of JavaScript behind the one that says its stack, a line each; with
# "NAME depth" of native frames in the file of the second name.
frames_of() { # IN OUT
	sed -E 's/^ +//' "$1" | awk '
	    /^\+ / { print "+"; on = 0; next }
	    /^say \(/ && !on { on = 1; next }
	    on && NF && !/`/ && !/^0x/ && !/^\[ runMicrotasks \]$/' >"$2"
}

# one WHAT TIMES OPTIONS...
one() {
	local what=$1 times=$2
	shift 2
	rm -f "$tmp/said" "$tmp/trace"
	dt -q -x strsize=1k -x jstackframes=200 -o "$tmp/trace" \
	    -n 'syscall::write:entry /arg2 == 4242 && pid == $target/ {
		printf("+ %d\n", ustackdepth); jstack(200, 100000); }' \
	    -c "$(quote "$node" --allow-natives-syntax "$@" "$js" "$tmp/said" "$times")"
	is "$what: status" "$status" 0
	frames_of "$tmp/trace" "$tmp/got"
	sed -E -e 's/^\+ .*/+/' -e 's/^\[nodejs\.[^]]*\] /<anonymous> /' \
	    "$tmp/said" >"$tmp/want"
	same "$what" "$tmp/want" "$tmp/got"
	[ "$(grep -c '^+' "$tmp/want")" -ge 60 ] ||
	    wrong "$what: only $(grep -c '^+' "$tmp/want") stacks"
	optimised=$(sed -n 's/^optimised //p' "$tmp/out")
	# Native frames of the stack called "outer".
	depth=$(paste -d ' ' <(grep '^+' "$tmp/said") \
	    <(grep '^+' "$tmp/trace") | sed -n 's/^+ outer + //p')
	echo "$what: $(wc -l <"$tmp/got") frames, $optimised optimised, depth $depth"
}

one "interpreted" 0 --no-opt --no-sparkplug
is "interpreted: optimised" "$optimised" 0
plain=$depth
one "without code made at run time" 0 --jitless
one "baseline" 0 --no-opt --always-sparkplug
case $v8 in
10.2) one "optimised at once" 0 --always-opt ;;
*) one "optimised at once" 0 --always-turbofan ;;
esac
[ "$optimised" -ge 3 ] || wrong "optimised at once: only $optimised of 4"
one "hot" 20000 --no-concurrent-recompilation
[ "$optimised" -ge 3 ] || wrong "hot: only $optimised of 4 are optimised"
# What was merged into its caller has no frame of its own.
[ "$depth" -lt "$plain" ] || wrong "hot: depth $depth, interpreted $plain"

# V8's own code has names wherever it is mapped: no frame is a number.  (These
# functions run too seldom to be compiled.)
cat >"$tmp/sorts.js" <<'JS'
'use strict';
const fs = require('fs');
const out = fs.openSync('/dev/null', 'w');
[3, 1, 2].sort((a, b) => { fs.writeSync(out, 'w'.repeat(4243)); return a - b; });
[1].map(() => fs.writeSync(out, 'w'.repeat(4243)));
JS
if nm "$node" 2>/dev/null | grep ' Builtins_ArrayTimSort$' >/dev/null; then
	dt -q -x strsize=1k -o "$tmp/builtins" -n '
	    syscall::write:entry /arg2 == 4243 && pid == $target/ { jstack(100); }' \
	    -c "$(quote "$node" "$tmp/sorts.js")"
	has "$tmp/builtins" '`Builtins_ArrayTimSort'
	has "$tmp/builtins" '`Builtins_SortCompareUserFn'
	has "$tmp/builtins" '`Builtins_ArrayMap'
	hasnt "$tmp/builtins" '^ *0x'
else
	echo "$node has no symbols: its built-in code has no names"
fi

# A busy program: samples are where it says that it spends its time, in a
# process that runs already.  (Code that was merged into its caller and calls
# nothing is that caller's.)
cat >"$tmp/busy.js" <<'JS'
'use strict';
class Work {
	spin(n) {
		let s = 0;
		for (let i = 0; i < n; i++)
			s += Math.sqrt(i % 7) * (i & 3);
		return s;
	}
	most(n) { return this.spin(n) + 1; }
}
function rare(n) { return new Work().spin(n); }
const w = new Work();
function round() {
	for (let i = 0; i < 20; i++)
		w.most(20000);
	rare(20000);
	setImmediate(round);
}
for (let i = 0; i < 10; i++)
	round();
console.log('ready');
JS
start_null busy "$node" --no-turbo-inlining "$tmp/busy.js"
line busy ready
dt -q -x stackformat=folded -x aggsortkey -o "$tmp/folded" -p "${pid[busy]}" -n '
    profile-997 /tid == pid/ { @[jstack()] = count(); n++; }
    profile-997 /n == 500/ { exit(0); }'
is "profile: status" "$status" 0
kill -KILL "${pid[busy]}"
read -r all most rare < <(awk '{ n = $NF; all += n }
    /;round;most(;spin)? [0-9]+$/ { most += n }
    /;round;rare(;spin)? [0-9]+$/ { rare += n }
    END { print all + 0, most + 0, rare + 0 }' "$tmp/folded")
echo "profile: $all samples, $most in most(), $rare in rare()"
[ "$most" -gt $((all * 6 / 10)) ] || {
	wrong "profile: $most of $all samples in most()"
	cut -d ';' -f 14- "$tmp/folded" | head -n 20
}
[ "$rare" -lt $((most / 4)) ] || wrong "profile: $rare in rare(), $most in most()"
finish
