#!/bin/bash
# Symbols from a debuginfod server: Debian's, and two of ours, one that never
# answers and one that never finishes.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"
need debuginfod objcopy strip perl
need_attach

# ---- a program and a library, stripped, and what the server has of them ----

cat >"$tmp/lib.c" <<'C'
static __attribute__((noinline)) int deep(int n) {
	__asm__ volatile("" ::: "memory"); return n + 1; }
int shallow(int n) { return deep(n) * 2; }
C
cat >"$tmp/main.c" <<'C'
#include <stdio.h>
struct pair { int a, b; };
int shallow(int n);
static __attribute__((noinline)) int inner(struct pair *p) {
	__asm__ volatile("" ::: "memory"); return shallow(p->a) + p->b; }
int main(int argc, char **argv) {
	int sum = 0;
	puts("begins");
	fflush(stdout);
	if (argc > 1)
		getchar();
	for (int i = 0; i < 10; i++)
		sum += inner(&(struct pair){ i, 7 });
	printf("sum %d\n", sum);
	return 0; }
C
mkdir "$tmp/store" "$tmp/cache"
cc -g -O1 -shared -fPIC -Wl,--build-id -o "$tmp/libdeep.so" "$tmp/lib.c" ||
    fail "cannot compile the library"
cc -g -O1 -Wl,--build-id -o "$tmp/bare" "$tmp/main.c" -L"$tmp" -ldeep \
    -Wl,-rpath,"$tmp" || fail "cannot compile the program"
for f in bare libdeep.so; do
	objcopy --only-keep-debug "$tmp/$f" "$tmp/store/$f.debug" ||
	    fail "cannot copy the debug data of $f"
	strip "$tmp/$f" || fail "cannot strip $f"
done

port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1,
	LocalAddr => "127.0.0.1")->sockport')
start_null server bash -c 'exec debuginfod -v -d :memory: -F -p "$0" "$1" 2>&1' \
    "$port" "$tmp/store"
line server 'groomed database'
export DEBUGINFOD_CACHE_PATH=$tmp/cache HOME=$tmp

inner='pid$target:a.out:inner:entry { @[args[0]->b] = count(); @u[ustack(2)] = count(); }'
deep='pid$target:libdeep:deep:return { @deep = sum(arg1); }'

# with COMMAND...: with the server.
with() {
	DEBUGINFOD_URLS=http://127.0.0.1:$port "$@"
}

# ---- who is asked, and when ----

# Nobody, without the variable, or if it is not wished.
dt -q -n "$inner" -c "$tmp/bare"
is "without a server: status" "$status" 1
has "$tmp/err" "failed to lookup 'inner' in module 'a.out', which has no symbol table(;|$)"
hasnt "$tmp/err" 'debuginfod'
for o in debuginfod=none debuginfodtime=0; do
	with dt -q -x "$o" -n "$inner" -c "$tmp/bare"
	is "$o: status" "$status" 1
	hasnt "$tmp/err" 'debuginfod'
done
is "files that came" "$(find "$tmp/cache" -name debuginfo | wc -l)" 0

# For the program: names, frames and types.
with dt -n "$inner" -o "$tmp/seen" -c "$tmp/bare"
is "program: status" "$status" 0
has "$tmp/out" '^sum 180$'
has "$tmp/seen" '^ *7 +10$'
has "$tmp/seen" '^ *bare`inner$'
has "$tmp/seen" '^ *bare`main\+0x[0-9a-f]+$'
is "asked" "$(grep -c '^dtrap: asking debuginfod for the symbols of ' "$tmp/err")" 1
has "$tmp/err" '^dtrap: asking debuginfod for the symbols of bare$'

# What is in the cache is not asked for again; the library is, once it is named.
with dt -n "$deep" -o "$tmp/seen" -c "$tmp/bare"
is "library: status" "$status" 0
has "$tmp/seen" '^ *55$'
is "asked" "$(grep 'asking' "$tmp/err")" \
    "dtrap: asking debuginfod for the symbols of libdeep.so"
with dt -n "$deep" -o "$tmp/seen" -c "$tmp/bare"
has "$tmp/seen" '^ *55$'
hasnt "$tmp/err" 'asking'
# Whether it is named or not, if all are to be asked for.
rm -rf "$tmp/cache"
with dt -x debuginfod=all -n 'BEGIN { exit(0); }' -c "$tmp/bare"
has "$tmp/err" 'asking debuginfod for the symbols of bare$'
has "$tmp/err" 'asking debuginfod for the symbols of libdeep.so$'

# For a process that runs.
rm -rf "$tmp/cache"
for way in p number; do
	start bare "$tmp/bare" wait
	line bare begins
	case $way in
	p) how=(-p "${pid[bare]}") ;;
	number)
		rm -rf "$tmp/cache"
		inner=${inner//\$target/${pid[bare]}} deep=${deep//\$target/${pid[bare]}}
		how=() ;;
	esac
	with start_dt dt -n "$inner" -n "$deep" "${how[@]}"
	tell bare go
	end bare
	# It waits for processes to come, if none was named.
	[ $way = p ] || kill -INT "${pid[dt]}"
	end dt
	is "process: status" "$status" 0
	has "$tmp/dt.out" '^ *7 +10$'
	has "$tmp/dt.out" '^ *bare`main\+0x[0-9a-f]+$'
	has "$tmp/dt.out" '^ *55$'
	has "$tmp/dt.err" 'asking debuginfod for the symbols of libdeep.so$'
done

# What no server has.
inner='pid$target:a.out:inner:entry { @[args[0]->b] = count(); }'
rm -f "$tmp/store/bare.debug"
cp "$tmp/bare" "$tmp/unknown"
head -c 20 /dev/urandom >"$tmp/id"
id=$(readelf -SW "$tmp/unknown" | sed -n 's/.*build-id *NOTE *[0-9a-f]* \([0-9a-f]*\).*/\1/p')
dd if="$tmp/id" of="$tmp/unknown" bs=1 seek=$((0x$id + 16)) conv=notrunc 2>"$tmp/log"
with dt -n "$inner" -c "$tmp/unknown"
is "unknown: status" "$status" 1
has "$tmp/err" '^dtrap: no debuginfod server has the symbols of unknown$'
has "$tmp/err" "which has no symbol table(;|$)"

# Without the library that asks.
mkdir "$tmp/broken"
: >"$tmp/broken/libdebuginfod.so.1"
LD_LIBRARY_PATH=$tmp/broken with dt -n 'BEGIN { exit(0); }' -c "$tmp/unknown"
is "no library: status" "$status" 0
has "$tmp/err" '^dtrap: DEBUGINFOD_URLS is set, but libdebuginfod is not installed: symbols are not downloaded$'
is "needed to start" "$(ldd "$DTRAP" | grep -c debuginfod)" 0

# ---- servers that keep one waiting ----

# Says when it was asked, and when nobody waits any more; `slow' sends a part of
# a file.
cat >"$tmp/server.pl" <<'PERL'
use IO::Socket::INET;
$| = 1;
my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1") or die;
print "port ", $s->sockport, "\n";
while (my $c = $s->accept) {
	while (<$c>) { last if /^\r?$/ }
	print "asked\n";
	print $c "HTTP/1.1 200 OK\r\nContent-Length: 4096000\r\n\r\n", "x" x 1024000
	    if @ARGV;
	$c->flush;
	1 while <$c>;
	print "left\n";
}
PERL
export DEBUGINFOD_CACHE_PATH=$tmp/cache2

# There is a limit, which may be over before the server is asked.
start_null silent perl "$tmp/server.pl"
line silent '^port'
DEBUGINFOD_URLS=http://127.0.0.1:${line#port } dt -x debuginfodtime=2 \
    -n 'syscall::write:entry { @ = count(); }' -c "$tmp/unknown"
is "silent: status" "$status" 0
has "$tmp/out" '^sum 180$'
has "$tmp/err" '^dtrap: debuginfod took more than 2 seconds: going on without the symbols of (unknown|the targets)$'
# Meanwhile nothing is stopped, nothing is launched; and the user may end it.
start_null patient perl "$tmp/server.pl"
line patient '^port'
export DEBUGINFOD_URLS=http://127.0.0.1:${line#port }
start unknown "$tmp/unknown" wait
line unknown begins
start_null waits "$DTRAP" -x debuginfodtime=10000 -n 'BEGIN { exit(0); }' \
    -p "${pid[unknown]}" -c "touch $tmp/launched"
line patient '^asked'
is "tracer of the process" "$(tracer "${pid[unknown]}")" 0
is "its state" "$(state "${pid[unknown]}")" S
kill -INT "${pid[waits]}"
end waits
is "interrupted: status" "$status" 0
line patient '^left'
[ ! -e "$tmp/launched" ] || wrong "a program was launched"
# If dtrap dies nobody goes on.
start_null waits "$DTRAP" -x debuginfodtime=10000 -n 'BEGIN { exit(0); }' \
    -p "${pid[unknown]}"
line patient '^asked'
kill -KILL "${pid[waits]}"
end waits
line patient '^left'
tell unknown go
end unknown
is "its status" "$status" 0

# How far it is, of what comes slowly.
start_null slow perl "$tmp/server.pl" slow
line slow '^port'
export DEBUGINFOD_URLS=http://127.0.0.1:${line#port }
start_null waits bash -c 'exec "$@" 2>&1' - "$DTRAP" -x debuginfodtime=10000 \
    -n 'BEGIN { exit(0); }' -c "$tmp/unknown"
line waits '^dtrap: asking debuginfod for the symbols of unknown$'
line waits '^dtrap: debuginfod: unknown: 1000 of 4000 KiB$'
kill -INT "${pid[waits]}"
end waits
line slow '^left'
finish
