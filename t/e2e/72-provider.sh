#!/bin/bash
# Static probes that a program makes while it runs (libdtrap-sdt): they are seen
# when they come and when they go, with the types that the program has given.
# timeout: 300
. "${0%/*}/lib.sh"
need_attach
export LIMIT=120
# A provider that no other process on this machine has.
export SHOP=shop${$}x
shop="provider $SHOP { probe sold(int32_t n, string what); };"
# shellcheck disable=SC2016 # D
sold=$SHOP'$target::sell:sold { printf("%d %s\n", args[0], args[1]); }'

# expected N T: what sold prints.
expected() {
	awk -v n="$1" -v t="$2" 'BEGIN {
		for (k = 0; k < t; k++)
			for (i = 0; i < n; i++)
				print -i, k "-" i
	}' | sort
}

# printed FILE: what it has printed.
printed() {
	grep -E '^-?[0-9]+ [0-9]+-[0-9]+$' "$1" | sort
}

# Launched, by each way: the provider is made when the program runs.
expected 25000 4 >"$tmp/want"
for way in off on; do
	LIMIT=200 dt -q -Z -x bufsize=64m -x strsize=16 -x fastpath=$way \
	    -n "$shop $sold" -c "$bin/provider load 'fire 25000 4' unload"
	is "launched, $way: status" "$status" 0
	printed "$tmp/out" >"$tmp/got"
	same "launched, $way: 100,000 hits" "$tmp/want" "$tmp/got"
	has "$tmp/out" '^fired, watched 1$'
	hasnt "$tmp/err" drop
done

# Attached before it is made; made again at the same place; gone.
expected 3 2 >"$tmp/want"
start app "$bin/provider"
line app ready
start_dt dt -q -Z -n "$shop $sold" -p "${pid[app]}"
for round in 1 2 3; do
	tell app load
	line app 'load: no error'
	tell app "fire 3 2"
	line app 'fired, watched 1'
	: >"$tmp/got"
	for ((i = 0; i < 6; i++)); do
		line dt '^-?[0-9]+ [0-9]-[0-9]$'
		echo "$line" >>"$tmp/got"
	done
	sort -o "$tmp/got" "$tmp/got"
	same "attached before, round $round" "$tmp/want" "$tmp/got"
	tell app unload
	line app 'unload: no error'
	tell app "fire 3 2"
	line app 'fired, watched 0'
done
kill -INT "${pid[dt]}"
end dt
is "attached before: status" "$status" 0
has "$tmp/dt.out" '^-2 1-2$'
is "attached before: hits" "$(printed "$tmp/dt.out" | wc -l)" 18

# Attached after it is made: types need no declaration.
dt -l -P "$SHOP*" -p "${pid[app]}"
hasnt "$tmp/out" " $SHOP"
tell app load
line app 'load: no error'
dt -l -v -P "$SHOP*"
has "$tmp/out" " $SHOP${pid[app]} +$SHOP.so +sell +sold$"
has "$tmp/out" " $SHOP${pid[app]} +$SHOP.so +Shop.sell +two$"
has "$tmp/out" " $SHOP${pid[app]} +$SHOP.so +Shop.buy +two$"
has "$tmp/out" " $SHOP${pid[app]} +$SHOP.so +idle__time +idle-time$"
for t in '0.: int8_t' '1.: uint8_t' '2.: int16_t' '3.: uint16_t' '4.: int32_t' \
    '5.: uint32_t' '6.: int64_t' '7.: uint64_t' '8.: string' '9.: void \*' \
    '11.: string'; do
	has "$tmp/out" "args.$t\$"
done
# shellcheck disable=SC2016 # D
d='SHOP*:::all12 {
	printf("%d %d %d %d %d %u %d %u %s %p ", args[0], args[1], args[2], args[3],
	    args[4], args[5], args[6], args[7], args[8], args[9]);
	printf("%d %s\n", args[10], args[11]); }
    SHOP*::Shop.sell:two { printf("text %s\n", args[0]); }
    SHOP*::Shop.buy:two { printf("%d %s\n", args[0], args[1]); }
    SHOP*:::idle-time { printf("idle\n"); }'
start_dt dt -q -n "${d//SHOP/$SHOP}"
tell app all
line app 'all at '
at=${line#all at }
line dt "^-128 255 -32768 65535 -2147483648 4294967295 -9223372036854775808 18446744073709551615 text (0x)?$at 127 last\$"
line dt '^text by function$'
line dt '^-1 by function$'
line dt '^idle$'
tell app "fire 10 2"
line app 'watched 0'
kill -INT "${pid[dt]}"
end dt
is "attached after: status" "$status" 0

# A child has the probes, and its own semaphores.
# shellcheck disable=SC2016 # D
start_dt dt -q -p "${pid[app]}" -n "$SHOP"'$target::sell:sold { @[pid == $target ? "parent" : "child"] = count(); }'
tell app "fork 5"
line app '^child '
is "a followed child: is it watched" "${line##* }" 3
tell app "fire 2 1"
line app 'watched 1'
kill -INT "${pid[dt]}"
end dt
has "$tmp/dt.out" '^ *child +5$'
has "$tmp/dt.out" '^ *parent +2$'
tell app "fork 5"
line app '^child '
is "a child of its own: is it watched" "${line##* }" 4
close_in app
end app
is "provider: status" "$status" 0

# A child whose parent's descriptors are closed, for a user without capabilities.
as=()
[ "$(id -u)" != 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
[ "$(id -u)" != 0 ] || chmod 755 "$tmp"
start app "${as[@]}" "$bin/provider"
line app ready
tell app load
line app 'load: no error'
"${as[@]}" "$DTRAP" -l -P "$SHOP*" >"$tmp/out" 2>"$tmp/err"
has "$tmp/out" " ${SHOP}[0-9]+ +$SHOP.so +sell +sold$"
tell app stay
line app '^stays '
child=${line#stays }
start_null dt "${as[@]}" "$DTRAP" -q -x switchrate=5ms -p "$child" \
    -n "BEGIN { printf(\"armed\n\"); } $sold"
line dt armed
tell app "fire 2 1"
line app 'watched 1'
line dt '^0 0-0$'
line dt '^-1 0-1$'
kill -INT "${pid[dt]}"
end dt
tell app unload
line app 'unload: no error'
close_in app
end app
is "without descriptors: status" "$status" 0

# Nothing is left of 1,000 providers, traced or not.  (The C library's caches are no
# memory of theirs.)
export GLIBC_TUNABLES=glibc.malloc.tcache_count=0
"$bin/provider" "many 1000" >"$tmp/out"
has "$tmp/out" '^left: 0 mappings, 0 descriptors, 0 bytes$'
# shellcheck disable=SC2016 # D
dt -q -Z -n 'many*:::one { @n = count(); @s = sum(arg0); }' \
    -c "$bin/provider 'many 100'"
is "many: status" "$status" 0
has "$tmp/out" '^left: 0 mappings, 0 descriptors, 0 bytes$'
has "$tmp/out" '^ *200$'
has "$tmp/out" '^ *9900$'
finish
