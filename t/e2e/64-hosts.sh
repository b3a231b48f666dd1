#!/bin/bash
# dtrap -H: twenty hosts with an sshd and a busy redis each, one script, one
# answer, which is the sum of what each redis says; hosts die and come.
# timeout: 900
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need redis-benchmark redis-cli redis-check-rdb clush nodeset
need_attach
# shellcheck source=t/e2e/sshd.sh
. "$(dirname "$0")/sshd.sh"
LIMIT=200
hosts=20

# Debian's redis-tools has the server under this name only.
ln -s "$(command -v redis-check-rdb)" "$tmp/redis-server"
names=()
host() {
	host_start "$1" "$2" "$tmp/redis-server" --port 0 \
	    --unixsocket "$tmp/$1.sock" --save '' --appendonly no \
	    --dir "$tmp" --daemonize no
	names+=("$1")
}
cli() {
	timeout 60 redis-cli -s "$tmp/$1.sock" "${@:2}"
}
for ((i = 1; i <= hosts; i++)); do
	host "$(printf 'h%02d' "$i")" "$i"
done

# bench HOST N: so many SETs.
bench() {
	timeout 120 redis-benchmark -s "$tmp/$1.sock" -q --csv -c 2 -n "$2" \
	    -t set >/dev/null || wrong "$1: redis-benchmark"
}
# What the redis itself has counted.
sets() {
	cli "$1" info commandstats |
	    sed -n 's/^cmdstat_set:calls=\([0-9]*\).*/\1/p'
}
ask() {
	local name=$1
	shift
	start_null "$name" "$DTRAP" -x "rdtrap=$DTRAP" -q "$@"
}
rsh="rsh=ssh -F $tmp/ssh_config %h"
prog='BEGIN { printf("once\n"); @up[vmname] = count(); }
    pid$target:a.out:setCommand:entry {
	@all = count(); @by[vmname] = count(); @where[immstack(1)] = count(); }
    tick-200ms { printa("up %s\n", @up); printa("by %s %@d\n", @by);
	printf("tick\n"); }
    END { printa("all %@d\n", @all); printa("sum %s %@d\n", @by);
	printa("where %@d\n", @where); }'

# ---- all of them, by ssh ----

ask dt -H "h[01-$hosts]" -x "$rsh" -x snaprate=200ms -n "$prog" \
    -p @redis-server
line dt '^once$'
declare -A want=()
for name in "${names[@]}"; do
	line dt "^up $name\$"
	n=$((20 + 10#${name#h}))
	bench "$name" "$n"
	want[$name]=$n
done
# One dies when its answer is here: what it has said stays.
line dt "^by h03 ${want[h03]}\$"
host_kill h03
line dt "^by h$hosts ${want[h$hosts]}\$"
line dt '^tick$'
kill -INT "${pid[dt]}"
end dt
is "a host died: status" "$([ "$status" = 0 ] && echo 0 || echo other)" other
has "$tmp/dt.err" '^dtrap: h03: ended without its last line'
is "begin, once" "$(grep -c '^once$' "$tmp/dt.out")" 1
total=0
for name in "${names[@]}"; do
	has "$tmp/dt.out" "^sum $name ${want[$name]}\$"
	total=$((total + want[$name]))
	[ "$name" = h03 ] || is "$name: redis" "$(sets "$name")" "${want[$name]}"
done
has "$tmp/dt.out" "^all $total\$"
is "the same place at all hosts" "$(grep '^where' "$tmp/dt.out")" "where $total"
for name in "${names[@]}"; do
	[ "$name" = h03 ] || [ "$(cli "$name" ping)" = PONG ] ||
	    wrong "$name: its redis does not answer"
done

# ---- one command for all: ClusterShell, and a group of it ----

mkdir "$tmp/cs"
cat >"$tmp/cs/groups.conf" <<END
[Main]
default: local
confdir: $tmp/cs/no
[local]
map: [ \$GROUP = web ] && echo h[04-08]
END
export CLUSTERSHELL_CFGDIR=$tmp/cs
ask dt -H @web -x "rsh=clush -o '-F $tmp/ssh_config' -w %H" -x snaprate=200ms \
    -n 'BEGIN { printf("once\n"); @n = count(); }
    pid$target:a.out:setCommand:entry { @all = count(); }
    tick-200ms { printa("up %@d\n", @n); printa("so far %@d\n", @all); }
    END { printa("all %@d\n", @all); }' -p @redis-server
line dt '^up 5$'
for i in 4 5 6 7 8; do
	bench h0$i 10
done
line dt '^so far 50$'
kill -INT "${pid[dt]}"
end dt
is "clush: status" "$status" 0
has "$tmp/dt.out" '^all 50$'

# ---- a host that is not there; exit() of the merge, and of one host ----

dt -H h01,h02,nowhere -x "$rsh" -x "rdtrap=$DTRAP" -q \
    -n 'BEGIN { @up = count(); } tick-1s { printa("up %@d\n", @up); }
    tick-5s { exit(3); }'
has "$tmp/out" '^up 2$'
has "$tmp/err" '^dtrap: nowhere: (ssh:|no answer)'
[ "$status" -ge 3 ] || wrong "exit() of a tick: status $status"
dt -H h01,h02 -x "$rsh" -x "rdtrap=$DTRAP" -q \
    -n 'BEGIN /vmname == "h02"/ { exit(4); } BEGIN { exit(0); }
    END { printf("end\n"); }'
is "exit() of a host: status" "$status" 4
has "$tmp/err" '^dtrap: h02: ended with a status other than 0$'
is "end, once" "$(grep -c '^end$' "$tmp/out")" 1
dt -H h01 -x "$rsh" -x "rdtrap=$DTRAP" -n 'BEGIN { nonsense }'
has "$tmp/err" '^dtrap: h01: .*nonsense'
[ "$status" != 0 ] || wrong "a program with a mistake: status $status"
dt -H '-oProxyCommand=x' -n BEGIN
has "$tmp/err" 'a name has letters'
# A script goes along.
cat >"$tmp/s.d" <<'END'
BEGIN { printf("script %d %s\n", $1, vmname); exit(0); }
END
dt -H h01 -x "$rsh" -x "rdtrap=$DTRAP" -q -s "$tmp/s.d" 7
is "script" "$(head -n 1 "$tmp/out")" 'script 7 h01'

finish
