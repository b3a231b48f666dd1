# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh and pg.sh assign, tests read
# A web server, PHP and a database that belong to the test: nginx, PHP-FPM and
# PostgreSQL as Debian builds them, all in "$data" and on sockets there; read
# after t/e2e/pg.sh.
#
# There is one worker of nginx and one of PHP, so that it is known who does what;
# PostgreSQL starts a process for each request, as the page connects to it.

# Not on everybody's PATH.
for nginx in $(command -v nginx) /usr/sbin/nginx; do break; done
[ -x "$nginx" ] || skip "nginx is not installed"
for fpm in /usr/sbin/php-fpm*; do :; done
[ -x "$fpm" ] || skip "php-fpm is not installed"
fpm=("$fpm" -n -d extension=pgsql)
"${fpm[@]}" -m 2>/dev/null | grep -x pgsql >/dev/null ||
    skip "php-pgsql is not installed"

# Workers live on when their master is killed, and a master starts others when
# they are: first the one, then the others.
trap 's=$?; web_kill; pg_kill; rm -rf "$data"; (exit $s); cleanup' EXIT
web_kill() {
	local master workers
	for master in "${pid[nginx]:-}" "${pid[fpm]:-}"; do
		[ -n "$master" ] || continue
		read -ra workers <"/proc/$master/task/$master/children"
		kill -KILL "$master" "${workers[@]}" 2>/dev/null
	done
}

# The first child of a process, in $child.
child_of() {
	child=
	read -r child _ <"/proc/$1/task/$1/children"
	[ -n "$child" ] || fail "process $1 has no child"
}

# web_start [ENVIRONMENT...]: pages of t/workload/web.php at "$web_socket", with a
# table of three items.  The processes that work are $web_nginx, $web_php and
# ${pid[web]}, the server of PostgreSQL.
web_start() {
	local here=$PWD

	web_socket=$data/web/http
	pg_init web
	pg_start web
	start psql "$pg/psql" -X -A -t -q -h "$data/web" -U postgres postgres
	tell psql "create table item (id int primary key, name text);
	    insert into item values (1, 'tea'), (2, 'coffee'), (3, 'milk');
	    select 'stored';"
	line psql stored
	close_in psql
	end psql
	cd "$here" || exit 2
	cp t/workload/web.php "$data/shop.php"
	cat >"$data/fpm.conf" <<-CONF
		[global]
		daemonize = no
		pid = $data/web/fpm.pid
		error_log = $data/fpm.log
		[shop]
		listen = $data/web/fpm
		pm = static
		pm.max_children = 1
	CONF
	chmod a+r "$data"/shop.php "$data"/fpm.conf
	start fpm env "$@" "${as[@]}" bash -c 'exec "$@" 2>&1' - \
	    "${fpm[@]}" -F -O -p "$data" -y "$data/fpm.conf"
	line fpm 'ready to handle connections'
	child_of "${pid[fpm]}"
	web_php=$child
	cat >"$data/nginx.conf" <<-CONF
		daemon off;
		worker_processes 1;
		pid $data/web/nginx.pid;
		error_log stderr notice;
		events { }
		http {
			access_log $data/access.log;
			client_body_temp_path $data/temp;
			fastcgi_temp_path $data/temp;
			proxy_temp_path $data/temp;
			scgi_temp_path $data/temp;
			uwsgi_temp_path $data/temp;
			server {
				listen unix:$web_socket;
				location / {
					fastcgi_pass unix:$data/web/fpm;
					fastcgi_param SCRIPT_FILENAME $data/shop.php;
					fastcgi_param SCRIPT_NAME \$uri;
					fastcgi_param REQUEST_METHOD \$request_method;
					fastcgi_param REQUEST_URI \$request_uri;
					fastcgi_param QUERY_STRING \$query_string;
					fastcgi_param STORE "host=$data/web user=postgres dbname=postgres";
				}
			}
		}
	CONF
	chmod a+r "$data/nginx.conf"
	start nginx "${as[@]}" bash -c 'exec "$@" 2>&1' - \
	    "$nginx" -e stderr -p "$data" -c "$data/nginx.conf"
	line nginx 'start worker process [0-9]+'
	web_nginx=${line##* }
}

# web_load N NAME ITEMS: N requests for the page, which has every name.
web_load() {
	(apart "$bin/work-requests" "$web_socket" "$1" "/$2?items=$3") \
	    >"$tmp/load.out" 2>"$tmp/load.err" </dev/null ||
	    fail "$1 requests"
}

web_stop() {
	kill -QUIT "${pid[nginx]}" "${pid[fpm]}"
	end nginx
	is "status of nginx" "$status" 0
	end fpm
	is "status of php-fpm" "$status" 0
	pg_stop web
}
