#!/bin/bash
# timeout: 3600
# nginx with two workers, under ab: every reply complete, and as long as it should be.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need ab curl
need_attach
for nginx in $(command -v nginx) /usr/sbin/nginx; do break; done
[ -x "$nginx" ] || skip "nginx is not installed"
port=$((20000 + $$ % 20000))
mkdir "$tmp/html"
seq 5000 >"$tmp/html/long"
echo short >"$tmp/html/short"
chmod -R a+rX "$tmp"
cat >"$tmp/nginx.conf" <<CONF
daemon off;
worker_processes 2;
pid $tmp/nginx.pid;
error_log stderr notice;
events { }
http {
	access_log off;
	client_body_temp_path $tmp;
	proxy_temp_path $tmp;
	fastcgi_temp_path $tmp;
	uwsgi_temp_path $tmp;
	scgi_temp_path $tmp;
	gzip on;
	gzip_types *;
	server {
		listen 127.0.0.1:$port;
		root $tmp/html;
		log_not_found off; # nobody reads that
	}
}
CONF

client() {
	local page
	for page in short long none; do
		timeout "$LIMIT" ab -q -n 2000 -c 8 -k -H 'Accept-Encoding: gzip' \
		    "http://127.0.0.1:$port/$page" 2>&1 |
		    grep -E '^(Complete|Failed|Non-2xx|HTML|Document Length)'
	done
	curl -s "http://127.0.0.1:$port/long" | cksum
	curl -s --compressed "http://127.0.0.1:$port/long" | cksum
	curl -s -H 'Range: bytes=100-199' "http://127.0.0.1:$port/long"
}

start nginx bash -c 'exec "$@" 2>&1' - "$nginx" -c "$tmp/nginx.conf"
line nginx 'start worker process '
line nginx 'start worker process '
master=${pid[nginx]}
read -ra workers <"/proc/$master/task/$master/children"
trap 's=$?; kill -KILL "$master" "${workers[@]}" 2>/dev/null; (exit $s); cleanup' EXIT
server_load nginx "${workers[@]}" "$master"
kill -QUIT "$master"
end nginx
is "status of the server" "$status" 0
finish
