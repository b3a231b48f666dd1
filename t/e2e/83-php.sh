#!/bin/bash
# timeout: 200
# The static probes of PHP as Debian builds it, against a program that is known
# to the last call.  PHP comes by most of them only if its environment says so.
. "${0%/*}/lib.sh"
need_attach
need php readelf perl
php=$(readlink -f "$(command -v php)")
carries "$php" function__entry || skip "php has no static probes here"
export USE_ZEND_DTRACE=1
run=("$php" -n)

cat >"$tmp/known.php" <<'PHP'
<?php
class Known {
	function leaf($n) { return $n + 1; }
	function rec($n) {
		return $n == 0 ? $this->leaf($n) : $this->rec($n - 1) + 1;
	}
	static function make() { return new Known; }
}
function all() {
	$k = Known::make();
	for ($i = 0; $i < 10; $i++)
		$k->rec(3);
	try {
		throw new LogicException("known");
	} catch (LogicException $e) {
	}
	return (function ($n) { return $n; })(1);
}
if ($argc == 1) {
	all();
} else {
	echo "ready\n";
	while (($line = fgets(STDIN)) !== false) {
		all();
		echo "done $line";
	}
}
PHP

# A caught exception is told by PHP's own string, whose bytes come 24 later.
# shellcheck disable=SC2016
calls='php$target:::function-entry,php$target:::function-return {
	@[probename, strjoin(copyinstr(arg3), copyinstr(arg4)), copyinstr(arg0),
	    basename(copyinstr(arg1))] = count();
}
php$target:::exception-thrown /arg0 != 0/ {
	@[probename, "", copyinstr(arg0), ""] = count();
}
php$target:::exception-caught {
	@[probename, "", copyinstr(arg0 + 24), ""] = count();
}
END { printa("* %s %s%s %s %@d\n", @); }'
want_calls() {
	local p
	for p in entry return; do
		cat <<-WANT
			* function-$p Known::leaf known.php 10
			* function-$p Known::make known.php 1
			* function-$p Known::rec known.php 40
			* function-$p all known.php 1
			* function-$p {closure} known.php 1
		WANT
	done
	echo '* exception-thrown LogicException  1'
	echo '* exception-caught LogicException  1'
}

# Launched: with the file that is compiled, and the lines.
# shellcheck disable=SC2016
dt -q -Z -n "$calls" -c "$(quote "${run[@]}" "$tmp/known.php")" -n '
php$target:::compile-file-entry,php$target:::compile-file-return,
php$target:::request-startup,php$target:::request-shutdown {
	printf("+ %s %s\n", probename, basename(copyinstr(arg0)));
}
php$target:::function-entry { @l[copyinstr(arg0), args[2]] = count(); }
END { printa("+ line %s %d %@d\n", @l); }'
is "status" "$status" 0
hasnt "$tmp/err" 'error|drop'
{ want_calls; printf '* function-%s main known.php 1\n' entry return; } |
    sort >"$tmp/want"
grep '^\*' "$tmp/out" | sort >"$tmp/seen"
same "launched" "$tmp/want" "$tmp/seen"
cat >"$tmp/want" <<'WANT'
+ request-startup known.php
+ compile-file-entry known.php
+ compile-file-return known.php
+ request-shutdown known.php
WANT
grep '^+ [^l]' "$tmp/out" >"$tmp/seen"
same "its life" "$tmp/want" "$tmp/seen"
has "$tmp/out" '^\+ line rec 5 40$'
has "$tmp/out" '^\+ line leaf 3 10$'

# Attached to: it waits for a line.
for p in one two; do
	start $p "${run[@]}" "$tmp/known.php" serve
	line $p ready
	is "$p: raised before" "$(raised "${pid[$p]}" "$php" php)" 0
done
start_dt dt -q -n "$calls" -p "${pid[one]}"
is "raised while traced" "$(raised "${pid[one]}" "$php" php)" 4
is "raised in the other" "$(raised "${pid[two]}" "$php" php)" 0
tell one all
line one 'done all'
kill -INT "${pid[dt]}"
end dt
is "status" "$status" 0
hasnt "$tmp/dt.err" .
is "raised afterwards" "$(raised "${pid[one]}" "$php" php)" 0
want_calls | sort >"$tmp/want"
grep '^\*' "$tmp/dt.out" | sort >"$tmp/seen"
same "attached" "$tmp/want" "$tmp/seen"

in_two php "$php" 'exception-thrown /arg0 != 0/' 'copyinstr(arg0)' \
    LogicException
end_two
finish
