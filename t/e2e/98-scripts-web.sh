#!/bin/bash
# timeout: 200
# Scripts about PHP and OpenSSL, on programs that do what we know.
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=t/e2e/scripts.sh
. t/e2e/scripts.sh
need_attach

web_php() {
	command -v php >/dev/null || { echo "php is not installed"; return; }
	carries "$(readlink -f "$(command -v php)")" function__entry ||
	    { echo "php has no static probes here"; return; }
	cat >"$tmp/known.php" <<-'PHP'
		<?php
		class Known {
			function leaf($n) { return $n + 1; }
			static function twice($k) { return $k->leaf(1) + $k->leaf(2); }
		}
		function all() {
			for ($i = 0; $i < 3; $i++)
				Known::twice(new Known);
		}
		all();
	PHP
	script topphp.d -c "env USE_ZEND_DTRACE=1 php -n $tmp/known.php"
	is "topphp" "$(plain | awk 'NR > 1 { print $1, $(NF - 1) }' |
	    sort | xargs)" "Known::leaf 6 Known::twice 3 all 1 main 1"
	is "topphp, all() takes longest" "$(plain | awk 'NR > 1 { t[$1] = $NF }
	    END { print (t["all"] >= t["Known::twice"] * 2 &&
		t["Known::twice"] >= t["Known::leaf"]) }')" 1

	script web.d -c "env USE_ZEND_DTRACE=1 php -n $tmp/known.php"
	plain | sed 's/^\[php [0-9]*\] //' >"$tmp/flat"
	is "web, entries" "$(awk '$1 == "function-entry" { print $2 }' "$tmp/flat" |
	    sort | uniq -c | awk '{ print $2, $1 }' | xargs)" \
	    "Known::leaf 6 Known::twice 3 all 1 main 1"
	has "$tmp/flat" '^function-entry Known::leaf known.php:3$'
	has "$tmp/flat" '^request-startup .*known.php'
	has "$tmp/flat" '^request-shutdown .*known.php'
}

web_openssl() {
	command -v openssl >/dev/null ||
	    { echo "openssl is not installed"; return; }
	openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost \
	    -keyout "$tmp/key" -out "$tmp/cert" 2>"$tmp/req.err" ||
	    fail "openssl req"
	# One connection; each line that comes is reversed and sent back, until
	# one is CLOSE.
	start server openssl s_server -accept 127.0.0.1:0 -naccept 1 -rev \
	    -key "$tmp/key" -cert "$tmp/cert"
	line server 'ACCEPT .*:[0-9]+'
	port=${line##*:}
	printf 'known words\nCLOSE\n' >"$tmp/words"
	script sslsnoop.d -c "sh -c 'openssl s_client -quiet -connect 127.0.0.1:$port 2>/dev/null <$tmp/words'"
	has "$tmp/out" '^openssl\[[0-9.]+\] SSL_write(_ex)? 18 bytes$'
	has "$tmp/out" '^known words$'
	has "$tmp/out" '^openssl\[[0-9.]+\] SSL_read(_ex)? 12 bytes$'
	has "$tmp/out" '^sdrow nwonk$'
	end server
}

web_php
web_openssl
finish
