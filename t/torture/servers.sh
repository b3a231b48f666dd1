#!/bin/bash
# timeout: 3600
# Servers under their load, attached to and let go once a second with probes in
# the functions that serve: no client sees an error or a wrong answer.
#
# TORTURE=1: 60 seconds each; SECONDS_EACH= others; SERVERS= some of them.
# shellcheck disable=SC2016 # D, not shell
. "${0%/*}/lib.sh"
need python3
need_attach
LIMIT=300
load=$PWD/t/torture/load.py
has_all() {
	local c
	for c in "$@"; do
		command -v "$c" >/dev/null || { echo "no $c"; return 1; }
	done
}

# web NAME PORT PROBES PID...: the load of those that speak HTTP.
web() {
	local name=$1 port=$2 probes=$3
	shift 3
	start load python3 "$load" "$port"
	under_load "$name" "$probes" "$@"
	end load
	is "$name: status of the clients" "$status" 0
	has "$tmp/load.out" '^[1-9][0-9]* requests, 0 errors$'
	echo "$name: $rounds rounds, $hits hits, $(tail -n 1 "$tmp/load.out")"
}

server_redis() {
	local sock=$tmp/sock n=0
	has_all redis-benchmark redis-cli redis-check-rdb || return
	# One file is all programs; not every package has it under this name.
	ln -sf "$(command -v redis-check-rdb)" "$tmp/redis-server"
	start redis "$tmp/redis-server" --port 0 --unixsocket "$sock" --save '' \
	    --appendonly no --dir "$tmp" --daemonize no --io-threads 2
	line redis 'ready to accept connections'
	# So many increments in a round: the sum is known.
	start load bash -c 'n=0
		until read -r -t 0; do
			redis-benchmark -s "$1" -q --csv -c 8 -n 2000 \
			    -t incr,set,get,lpush,lrange_100 2>&1 </dev/null ||
			    exit 1
			n=$((n + 2000))
		done
		echo "made $n"' - "$sock"
	under_load redis 'pid$target:a.out:*Command:entry,pid$target:a.out:*Command:return,pid$target:libc:read:,pid$target:libc:mem*:entry,pid$target:a.out:dict*:return' "${pid[redis]}"
	end load
	is "redis: status of the clients" "$status" 0
	hasnt "$tmp/load.out" '[Ee]rror|[Cc]ould not'
	n=$(sed -n 's/^made //p' "$tmp/load.out")
	is "redis: increments" "$(redis-cli -s "$sock" get 'counter:__rand_int__')" "$n"
	is "redis: pushed" "$(redis-cli -s "$sock" llen mylist)" "$((n * 2))"
	redis-cli -s "$sock" shutdown nosave
	end redis
	is "redis: status" "$status" 0
	hasnt "$tmp/redis.out" 'BUG|crash|signal|Guru'
	echo "redis: $rounds rounds, $hits hits, $n increments"
}

server_nginx() {
	local port user=
	has_all nginx || return
	port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
	# Nobody else may enter the directory that we are in.
	[ "$(id -u)" != 0 ] || user='user root root;'
	mkdir "$tmp/www" "$tmp/nginx"
	"$load" files "$tmp/www"
	cat >"$tmp/nginx.conf" <<-CONF
		daemon off;
		$user
		worker_processes 2;
		pid $tmp/nginx.pid;
		error_log $tmp/nginx.log info;
		events { worker_connections 100; }
		http {
			access_log off;
			client_body_temp_path $tmp/nginx/body;
			proxy_temp_path $tmp/nginx/proxy;
			fastcgi_temp_path $tmp/nginx/fastcgi;
			uwsgi_temp_path $tmp/nginx/uwsgi;
			scgi_temp_path $tmp/nginx/scgi;
			server {
				listen 127.0.0.1:$port;
				root $tmp/www;
			}
		}
	CONF
	start nginx nginx -p "$tmp/nginx" -c "$tmp/nginx.conf" -e "$tmp/nginx.log"
	until [ "$(grep -c 'start worker process [0-9]' "$tmp/nginx.log" 2>/dev/null)" = 2 ]; do
		kill -0 "${pid[nginx]}" 2>/dev/null ||
		    { cat "$tmp/nginx.err"; fail "nginx does not start"; }
	done
	# shellcheck disable=SC2046 # the workers
	web nginx "$port" 'pid$target:a.out:ngx_http_*:entry,pid$target:a.out:ngx_http_*:return,pid$target:a.out:ngx_event*:,pid$target:libc:epoll_wait:' \
	    "${pid[nginx]}" $(sed -n 's/.*start worker process \([0-9]*\)$/\1/p' "$tmp/nginx.log")
	kill -QUIT "${pid[nginx]}"
	end nginx
	is "nginx: status" "$status" 0
	hasnt "$tmp/nginx.log" 'exited on signal|\[(alert|crit|emerg|error)\]'
}

server_java() {
	has_all java || return
	cat >"$tmp/Server.java" <<-'JAVA'
		import com.sun.net.httpserver.*;
		import java.net.*;
		import java.util.concurrent.*;

		public class Server {
			static byte[] answer(String path) {
				long n = Long.parseLong(path.substring(1));
				return (n * n + "\n").repeat((int) (n % 50) + 1).getBytes();
			}
			public static void main(String[] args) throws Exception {
				HttpServer s = HttpServer.create(new InetSocketAddress(
				    InetAddress.getByName("127.0.0.1"), 0), 0);
				s.createContext("/", x -> {
					byte[] b = answer(x.getRequestURI().getPath());
					x.sendResponseHeaders(200, b.length);
					x.getResponseBody().write(b);
					x.close();
				});
				s.setExecutor(Executors.newFixedThreadPool(4));
				s.start();
				System.out.println("port " + s.getAddress().getPort());
				while (System.in.read() >= 0)
					;
				System.exit(0);
			}
		}
	JAVA
	start java java -Xmx256m -XX:ErrorFile="$tmp/hs_err" "$tmp/Server.java"
	line java '^port'
	web java "${line#port }" 'pid$target:libjvm:JVM_*:,pid$target:libnio::entry,pid$target:libnet::entry,pid$target:libnio::return,pid$target:libc:read:,pid$target:libc:write:,pid$target:libc:pthread_cond*:' \
	    "${pid[java]}"
	close_in java
	end java
	is "java: status" "$status" 0
	hasnt "$tmp/java.err" .
	[ ! -e "$tmp/hs_err" ] || wrong "java: $(head -n 20 "$tmp/hs_err")"
}

server_node() {
	has_all node || return
	start node node -e '
		const s = require("http").createServer((q, r) => {
			const n = Number(q.url.slice(1));
			r.end((n * n + "\n").repeat(n % 50 + 1));
		});
		s.listen(0, "127.0.0.1", () => console.log("port", s.address().port));
		process.stdin.on("end", () => process.exit(0)).resume();'
	line node '^port'
	web node "${line#port }" 'pid$target:a.out:uv_*:entry,pid$target:a.out:uv_*:return,pid$target:a.out:llhttp_*:entry,pid$target:libc:read:,pid$target:libc:mem*:entry' \
	    "${pid[node]}"
	close_in node
	end node
	is "node: status" "$status" 0
	hasnt "$tmp/node.err" .
}

server_python() {
	local python
	python=$(python3 -c 'import sys; print(sys.executable)')
	cat >"$tmp/server.py" <<-'PY'
		import http.server, os, sys, threading

		class Handler(http.server.BaseHTTPRequestHandler):
		    protocol_version = "HTTP/1.1"
		    def do_GET(self):
		        n = int(self.path[1:])
		        body = (b"%d\n" % (n * n)) * (n % 50 + 1)
		        self.send_response(200)
		        self.send_header("Content-Length", str(len(body)))
		        self.end_headers()
		        self.wfile.write(body)
		    def log_message(self, *args):
		        pass

		s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
		print("port", s.server_address[1], flush=True)
		threading.Thread(target=s.serve_forever, daemon=True).start()
		sys.stdin.read()
		s.shutdown()
	PY
	start python "$python" "$tmp/server.py"
	line python '^port'
	web python "${line#port }" 'pid$target::PyObject_*:entry,pid$target::PyObject_*:return,pid$target::PyDict_*:,pid$target:libc:mem*:entry,pid$target:libc:pthread_*:' \
	    "${pid[python]}"
	close_in python
	end python
	is "python: status" "$status" 0
	hasnt "$tmp/python.err" .
}

wanted() {
	[[ " ${SERVERS:-redis nginx java node python} " == *" $1 "* ]]
}
if wanted redis; then server_redis; fi
if wanted nginx; then server_nginx; fi
if wanted java; then server_java; fi
if wanted node; then server_node; fi
if wanted python; then server_python; fi
finish
