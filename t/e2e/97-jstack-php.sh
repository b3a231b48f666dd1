#!/bin/bash
# timeout: 200
# jstack() of PHP against what debug_backtrace() says of the same stack:
# functions with their classes, files and lines of every frame.
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_attach
need php
case $(php -n -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION, (int)PHP_ZTS;') in
8.20 | 8.40) ;;
*) skip "stacks of this PHP are not known" ;;
esac
printf '<?php\n\nsay(1);\n' >"$tmp/included.php"

# one WHAT OPTIONS...
one() {
	local what=$1
	shift
	rm -f "$tmp/said" "$tmp/trace"
	dt -q -x strsize=1k -x jstackframes=200 -o "$tmp/trace" \
	    -n 'syscall::write:entry /arg2 == 4242 && pid == $target/ {
		printf("+\n"); jstack(200, 100000); }' \
	    -c "$(quote php -n "$@" t/e2e/src/stacks.php "$tmp/said" "$tmp/included.php")"
	is "$what: status" "$status" 0
	# Behind the function that says its stack.
	sed -nE -e 's/^\+$/+/p' -e 's/^ +\[ (.*) \]$/\1/p' "$tmp/trace" | awk '
	    /^\+$/ { print; on = 0; next }
	    /^say \(/ && !on { on = 1; next }
	    on' >"$tmp/got"
	sed 's/^+ .*/+/' "$tmp/said" >"$tmp/want"
	same "$what" "$tmp/want" "$tmp/got"
	[ "$(grep -c '^+' "$tmp/want")" -ge 40 ] ||
	    wrong "$what: only $(grep -c '^+' "$tmp/want") stacks"
	echo "$what: $(wc -l <"$tmp/got") frames"
}

one "interpreted"
# The note stands behind the frame of the interpreter that runs it, and native
# frames go on to the end.
awk '/^\+/ { if (n++) exit } { print }' "$tmp/trace" | sed -E 's/^ +//' |
    grep -oE '(write|zif_fwrite|execute_ex|zend_execute|_start|\[ [{a-z]+)' |
    uniq | xargs >"$tmp/order"
is "order" "$(cat "$tmp/order")" \
    "write zif_fwrite execute_ex [ fwrite [ say [ {closure [ {main zend_execute _start"

# PHP with its own probes switched on runs each function by a call of its own.
USE_ZEND_DTRACE=1 one "one by one"

cache=$(php -n -r 'echo ini_get("extension_dir") ?: PHP_EXTENSION_DIR;')/opcache.so
if [ -f "$cache" ]; then
	opcache=(-d "zend_extension=$cache" -d opcache.enable_cli=1)
	one "from the cache" "${opcache[@]}"
	for jit in function tracing; do
		one "compiled: $jit" "${opcache[@]}" -d "opcache.jit=$jit" \
		    -d opcache.jit_buffer_size=32M -d opcache.jit_hot_func=1 \
		    -d opcache.jit_hot_loop=1
	done
else
	echo "without opcache: $cache is not there"
fi

# A busy program: samples are where it spends its time, in a process that runs
# already.
cat >"$tmp/busy.php" <<'PHP'
<?php
class Work {
	function spin($n) {
		for ($s = 0, $i = 0; $i < $n; $i++)
			$s += $i % 7;
		return $s;
	}
	function most($n) { return $this->spin($n); }
}
function rare($n) { return (new Work)->spin($n); }
$w = new Work;
echo "ready\n";
while (true) {
	for ($i = 0; $i < 20; $i++)
		$w->most(2000);
	rare(2000);
}
PHP
start_null busy php -n "$tmp/busy.php"
line busy ready
dt -q -x stackformat=folded -o "$tmp/folded" -p "${pid[busy]}" -n '
    profile-997 { @[jstack()] = count(); n++; }
    profile-997 /n == 500/ { exit(0); }'
is "profile: status" "$status" 0
kill -KILL "${pid[busy]}"
read -r all most rare < <(awk '{ n = $NF; all += n }
    /;Work->most;Work->spin/ { most += n } /;rare;Work->spin/ { rare += n }
    END { print all + 0, most + 0, rare + 0 }' "$tmp/folded")
echo "profile: $all samples, $most in most(), $rare in rare()"
[ "$most" -gt $((all * 8 / 10)) ] || {
	wrong "profile: $most of $all samples in most()"
	cut -d ';' -f 8- "$tmp/folded" | head -n 20
}
[ "$rare" -lt $((most / 4)) ] ||
    wrong "profile: $rare in rare(), $most in most()"
finish
