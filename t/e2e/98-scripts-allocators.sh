#!/bin/bash
# leaks and mallocs.d of programs that bring an allocator of their own.
# shellcheck disable=SC2016 # symbols, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=t/e2e/scripts.sh
. t/e2e/scripts.sh
n=0

# sizes: what mallocs.d has counted.
sizes() {
	sed -n '/value/,/^$/s/[|@]//gp' "$tmp/out" |
	    awk '$2 > 0 && NR > 1 { print $1, $2 }' | xargs
}
known="8 1 64 3 2048 20 4096 1"

# Its own malloc: realloc() calls it, which is no allocation more.
cc=${CC:-cc}
need "$cc"
cat >"$tmp/own.c" <<'C'
#include <stdlib.h>
#include <string.h>
static char pool[1 << 20];
static size_t used;
void *malloc(size_t n)
{
	void *at = pool + used;
	used += (n + 15) / 16 * 16;
	return used <= sizeof(pool) ? at : NULL;
}
void free(void *p) { (void)p; }
void *realloc(void *p, size_t n)
{
	char *at = malloc(n);
	if (at != NULL && p != NULL)
		memmove(at, p, 10);
	return at;
}
C
"$cc" -O2 -fno-builtin -I. -o "$tmp/own" "$tmp/own.c" t/workload/memory.c ||
    fail "no program can be built"
script leaks -c "$tmp/own 3 20"
is "leaks, its own" "$(head -n 1 "$tmp/out")" "5300 bytes in 4 blocks, from 2 stacks"
script mallocs.d -c "$tmp/own 3 20"
is "mallocs, its own" "$(sizes)" "$known"

# None at all.
script leaks -c "$bin/work-calls 1"
has "$tmp/out" '^no call of malloc was seen, of libc or of another'
script mallocs.d -c "$bin/work-calls 1"
has "$tmp/out" '^no call of malloc was seen, of libc or of another'

# Libraries.  Where they have no symbols for what malloc() is continued by, some
# addresses are not seen: that is said, and none is wrong.
for lib in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2.0; do
	LD_PRELOAD=$lib true 2>"$tmp/ld"
	if [ -s "$tmp/ld" ]; then
		echo "$lib is not installed"
		continue
	fi
	export DTRACE_OPT_SETENV=LD_PRELOAD=$lib
	script leaks -n 100 -c "$bin/work-memory 3 20"
	awk -v RS= '{ n = 0 }
	    / more allocations/ { lost = $0; sub(/.*stacks\n/, "", lost); lost += 0 }
	    /work-memory`kept/ { kept = $4; each = $1 / $4 }
	    /work-memory`grown/ { grown = $4; size = $1 }
	    /work-memory`freed/ { freed = 1 }
	    END { print (kept <= 3 && grown <= 1 && !freed),
		(kept + grown + lost >= 4), (kept == 0 || each == 100),
		(grown == 0 || size == 5000), (kept + grown > 0) }' "$tmp/out" >"$tmp/seen"
	is "leaks, $lib" "$(cat "$tmp/seen")" "1 1 1 1 1"
	script mallocs.d -c "$bin/work-memory 3 20"
	is "mallocs, $lib" "$(grep -E 'work-memory`(kept|freed|grown)|bytes$' \
	    "$tmp/out" | sed 's/+0x.*//' | grep -A1 work-memory | grep -v '^--' | xargs)" \
	    'work-memory`grown 10 bytes work-memory`kept 300 bytes work-memory`grown 5000 bytes work-memory`freed 60000 bytes'
	unset DTRACE_OPT_SETENV
done

# redis, which comes with jemalloc.
need_attach
command -v redis-check-rdb >/dev/null && command -v redis-cli >/dev/null ||
    skip "redis is not installed"
ln -s "$(command -v redis-check-rdb)" "$tmp/redis-server"
server="$tmp/redis-server --port 0 --unixsocket $tmp/sock --save '' --appendonly no
    --dir $tmp --daemonize no"
cli() {
	timeout 60 redis-cli -s "$tmp/sock" "$@" >/dev/null 2>&1
}
start_null mallocs scripts/mallocs.d -c "$server"
until cli ping; do alive mallocs; done
cli set some "$(printf '%05000d' 1)"
cli shutdown nosave
end mallocs
is "mallocs of redis: status" "$status" 0
has "$tmp/mallocs.out" '^bytes by stack'
has "$tmp/mallocs.out" ' [1-9][0-9]* bytes$'

# Ended by SIGTERM, which the script alone gets, leaks prints what it has.
# shellcheck disable=SC2086 # words
eval start_null redis $server
until cli ping; do alive redis; done
mkdir "$tmp/leaks"
TMPDIR=$tmp/leaks start_null leaks scripts/leaks -p "${pid[redis]}"
until grep -qs '^+' "$tmp/leaks/"*; do
	alive leaks
	cli set "key $((n++))" "$(printf '%0500d' 1)"
done
kill -TERM "${pid[leaks]}"
end leaks
is "leaks of redis: status" "$status" 0
has "$tmp/leaks.out" '^[1-9][0-9]* bytes in [1-9][0-9]* blocks, from [1-9]'
alive redis
is "redis is untraced" "$(tracer "${pid[redis]}")" 0
finish
