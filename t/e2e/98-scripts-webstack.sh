#!/bin/bash
# timeout: 200
# Scripts about web servers, PHP and PostgreSQL, on a page of which each function
# and query is known.
# shellcheck disable=SC2317 # functions are called by besides()
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_attach
# shellcheck source=t/e2e/pg.sh
. t/e2e/pg.sh
# shellcheck source=t/e2e/scripts.sh
. t/e2e/scripts.sh
# shellcheck source=t/workload/web.sh
. t/workload/web.sh
carries "${fpm[0]}" function__entry || skip "php-fpm has no static probes here"
LIMIT=100

web_start USE_ZEND_DTRACE=1
web_load 1 shop 3
is "the page" "$(xargs <"$tmp/load.out")" \
    "1 answers tea for 3 coffee for 6 milk for 9 of 3"

# besides SCRIPT ARGS... -- REQUESTS...: the script, which says when all is in
# place, beside requests; its output is in "$tmp/out".
besides() {
	local words=() name=$1
	while [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	cp "scripts/$name" "$tmp/$name"
	printf '%s\n' 'BEGIN { printf("armed\n"); }' >>"$tmp/$name"
	start_null it "$tmp/$name" -x switchrate=5ms "${words[@]:1}"
	line it 'armed'
	"${@:2}"
	kill -INT "${pid[it]}"
	end it
	is "$name: status" "$status" 0
	sed '/armed/d' "$tmp/it.out" >"$tmp/out"
}

both_pages() {
	web_load 2 shop 3
	web_load 3 stand 1
}

# A request from its first line to its answer, in the order in which it happens:
# but PHP says it is done while nginx answers already.
all=(-p "$web_nginx" -p "$web_php" -p "${pid[web]}")
besides web.d "${all[@]}" -- web_load 1 shop 1
expect web.d 's/^\[\([a-z]*\) [0-9]*\]/\1:/; s/: [0-9]* us$//; /shutdown/d
    s| /tmp/dtrap-pg[^/]*/| |' <<'END'
nginx: request GET /shop?items=1 HTTP/1.0
php: request-startup GET /shop file shop.php
php: function-entry main shop.php:35
php: function-entry Store::__construct shop.php:12
php: function-return Store::__construct shop.php:12
php: function-entry page shop.php:28
php: function-entry Store::ask shop.php:17
postgresql: query-parse-start select name from item where id = 1
postgresql: query-execute-done select name from item where id = 1
php: function-return Store::ask shop.php:17
php: function-entry Store::price shop.php:22
php: function-return Store::price shop.php:22
php: function-entry Store::ask shop.php:17
postgresql: query-parse-start select count(*) from item
postgresql: query-execute-done select count(*) from item
php: function-return Store::ask shop.php:17
php: function-return page shop.php:28
php: function-return main shop.php:35
nginx: answer HTTP/1.1 200 OK
END
is "web.d, the answer takes longer than the queries" "$(plain |
    awk '/ us$/ { t[$1] += $(NF - 1) }
    END { print (t["[nginx"] > t["[postgresql"] && t["[postgresql"] > 0) }')" 1

# Five requests, two with three items and three with one.  PHP is done with the
# last after that was answered.
until_done() {
	both_pages
	for _ in 1 2 3 4 5; do
		line it 'request-shutdown'
	done
}
besides web.d "${all[@]}" -- until_done
is "web.d, counts" "$(sed 's/^\[\([a-z]*\) [0-9]*\]\t*/\1 /' "$tmp/out" |
    awk '/./ { n[$1 " " $2]++ } END { for (k in n) print k, n[k] }' | sort |
    tr '\n' ,)" "nginx answer 5,nginx request 5,php function-entry 38,php function-return 38,php request-shutdown 5,php request-startup 5,postgresql query-execute-done 14,postgresql query-parse-start 14,"
is "web.d, a process of PostgreSQL for each request" \
    "$(grep -o '^\[postgresql [0-9]*' "$tmp/out" | sort -u | wc -l)" 5

# By function and request; who calls takes at least as long as what it calls.
besides topphp.d -p "$web_php" -- both_pages
is "topphp.d" "$(plain | awk 'NR > 1 { print $2, $1, $3 }' | sort | tr '\n' ,)" \
    "/shop Store::__construct 2,/shop Store::ask 8,/shop Store::price 6,/shop main 2,/shop page 2,/stand Store::__construct 3,/stand Store::ask 6,/stand Store::price 3,/stand main 3,/stand page 3,"
is "topphp.d, times" "$(plain | awk '{ t[$2, $1] = $4 } END {
    print (t["/shop", "main"] >= t["/shop", "page"] + t["/shop", "Store::__construct"] &&
	t["/shop", "page"] >= 4 * t["/shop", "Store::ask"] &&
	t["/shop", "Store::ask"] > 0) }')" 1

besides pgsnoop.d -p "${pid[web]}" -- both_pages
is "pgsnoop.d" "$(plain | sed -n 's/^\([0-9]* \)\{4\}select/select/p' |
    sort | uniq -c | awk '{ $1 = $1; print }' | tr '\n' ,)" \
    "5 select count(*) from item,5 select name from item where id = 1,2 select name from item where id = 2,2 select name from item where id = 3,"
is "pgsnoop.d, distribution" \
    "$(awk '/\|/ { n += $NF } END { print n }' "$tmp/out")" 14

# nginx takes a connection and makes one for each request, reads a question and an
# answer, sends both on and writes a line into its log.  (The last close() may
# return after we have the answer.)
besides procsystime.d -p "$web_nginx" -- both_pages
is "procsystime.d" "$(plain | awk '$1 ~ /^(accept4|connect|recvfrom|writev|write)$/ {
    print $1, $2 }' | sort | xargs)" \
    "accept4 5 connect 5 recvfrom 10 write 5 writev 10"

besides latency.d -p "$web_php" a.out php_execute_script -- both_pages
has "$tmp/out" '^5 calls, mean [0-9]+ us, '

web_stop
finish
