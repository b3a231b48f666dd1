#!/bin/bash
# External names: variables of the target and its libraries, and types by name,
# read where they are in the process that is hit.
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need gcc

# shellcheck disable=SC2016 # D, not shell
{
cat >"$tmp/all.d" <<'END'
#pragma D option quiet
pid$target:a.out:stage:entry
{
	printf("n %d counter %d small %d byte %u large %lx\n", (int)arg1,
	    `counter, `small, a.out`byte, `large);
	printf("message %s text %s both %d name %s\n", stringof(`message),
	    `text, `both, stringof(`table[arg1].name));
	printf("fd %d name %s next %s color %d %d low %u high %u sign %d\n",
	    `config->fd, `config->name, ((struct conn *)arg0)->next->name,
	    `config->color, `config->color == GREEN, `conns[arg1].low,
	    ((conn_t *)arg0)->high, ((struct a.out`conn *)arg0)->sign);
	printf("wide %d u %d %u x %d y %d grid %d %d\n", `config->wide,
	    `config->u.i, `config->u.bytes[1], `config->x, `config->y,
	    `config->grid[0][2], `config->grid[1][1]);
	printf("at %x %x\n", (uint64_t)&`counter, (uint64_t)&`conns[1].next);
}
END
for how in pie nopie static dwarf4 debuglink; do
	dt -x switchrate=10ms -s "$tmp/all.d" -o "$tmp/seen" \
	    -c "$bin/external-$how"
	is "$how: status" "$status" 0
	is "$how: lines" "$(grep -c . "$tmp/out")" 15
	sed -i '/^$/d' "$tmp/seen"
	same "$how" "$tmp/out" "$tmp/seen"
	rm -f "$tmp/seen"
done

# Two processes of one program, at two addresses; to each its own.
need_attach
for i in 1 2; do
	start "p$i" "$bin/external-pie" wait
	line "p$i" '^ready'
done
start_dt dt -q -n 'pid'"${pid[p1]}"':a.out:stage:entry,
    pid'"${pid[p2]}"':a.out:stage:entry {
	printf("%d at %x %d\n", pid, (uint64_t)&`counter, `counter); }' \
    -p "${pid[p1]}" -p "${pid[p2]}"
for i in 1 2; do
	tell "p$i" go
	line "p$i" '^ready'
done
kill -INT "${pid[dt]}"
end dt
for i in 1 2; do
	at=$(sed -n 's/^at \([0-9a-f]*\) .*/\1/p' "$tmp/p$i.out" | head -n 1)
	seen=$(grep "^${pid[p$i]} " "$tmp/dt.out" | sort -u)
	for n in 41 42 43; do echo "${pid[p$i]} at $at $n"; done >"$tmp/want"
	is "process $i" "$seen" "$(cat "$tmp/want")"
	tell "p$i" go
	end "p$i"
done

# Objects by name; the library's variable beside the program's.
dt -q -n 'pid$target:a.out:stage:entry { printf("%d %d %s %s %d\n", a.out`both,
    libexternal.so`both, stringof(libexternal.so`table[3].name),
    stringof(libexternal`current->name), sizeof(libexternal.so`both)); exit(0);
    }' -o "$tmp/objects" -c "$bin/external-pie"
is objects "$(cat "$tmp/objects")" '4 77 four one 8'

# Where no process is hit, $target's memory is meant.
dt -q -o "$tmp/begin" -n 'BEGIN { printf("%d %s\n", `counter, `text); exit(0); }' \
    -c "$bin/external-pie"
is begin "$(cat "$tmp/begin")" '40 characters'
# It has none any more when it has ended.
dt -q -o "$tmp/end" -n 'pid$target:a.out:stage:entry { n++; }
    END { printf("%d", `counter); } END { printf("%d", n); }' -c "$bin/external-pie"
is "status of the end" "$status" 0
is end "$(cat "$tmp/end")" 3
has "$tmp/err" 'dtrace:::END\): invalid address'
start p "$bin/external-pie" wait
line p '^ready'
start_dt dt -q -n 'tick-10ms /`counter == 43/ { printf("it is %d\n", `byte);
    exit(0); }' -p "${pid[p]}"
tell p go
line dt '^it is'
is tick "$line" 'it is 253'
end dt
line p '^ready'
tell p go
end p
is "sampled: status" "$status" 0

# A whole struct, its members defined when it is printed.
dt -q -o "$tmp/print" -n 'pid$target:a.out:stage:entry /arg1 == 2/ {
	print(*(struct conn *)arg0); exit(0); }' -c "$bin/external-pie"
cat >"$tmp/want" <<'END'
(struct conn) {
.fd = (int)12,
.next = (struct conn *)PTR,
.color = (enum color)BLUE,
.low = (unsigned int)7,
.high = (unsigned int)302,
.sign = (int)-2,
.wide = (long long)-5000000002,
.u = (union) {
.i = (int)50727180,
(struct) {
.x = (short)-2,
.y = (short)7,
.grid = (int [2][3]) [
END
sed -n -e 's/^ *//' -e 's/\*)0x[0-9a-f]*/*)PTR/' -e '/name/d' -e '/bytes/d' \
    -e '/^\./p' -e '/^(struct/p' "$tmp/print" >"$tmp/printed"
same print "$tmp/want" "$tmp/printed"

# Where a program defines a tag itself, that counts.
dt -q -o "$tmp/tag" -n 'typedef struct conn mine_t;
    struct conn { short half[2]; };
    BEGIN { printf("%d\n", sizeof(mine_t)); }
    pid$target:a.out:stage:entry {
	printf("%d\n", ((mine_t *)arg0)->half[0]); exit(0); }' \
    -c "$bin/external-pie"
is "own definition" "$(tr '\n' ' ' <"$tmp/tag")" '4 10  '

# Without debug information there is an address, and what the program says.
dt -q -o "$tmp/plain" -n 'extern unsigned char byte;
    pid$target:a.out:stage:entry { printf("%d %d\n", *(int *)&`counter,
    byte); exit(0); }' -c "$bin/external-stripped"
is stripped "$(cat "$tmp/plain")" '41 251'

# What cannot be read, and why.
while read -r expr tag text; do
	dt -x errtags -n 'pid$target:a.out:stage:entry { trace('"$expr"'); }' \
	    -c "$bin/external-pie"
	is "$expr: status" "$status" 1
	has "$tmp/err" "\[$tag\].*$text"
done <<'END'
`nosuch D_IDENT_UNDEF Unknown symbol name
a.out`nosuch D_IDENT_UNDEF Unknown symbol name
libexternal.so`config D_IDENT_UNDEF Unknown symbol name
libnone.so`config D_IDENT_UNDEF No object of that name is mapped
`own D_IDENT_UNDEF Thread-local variables
`gone D_IDENT_UNDEF The compiler optimised it away
`config->none D_TYPE_MEMBER none is not a member of struct conn
`config->secret->x D_OP_INCOMPLETE no struct opaque definition
`conns[3] D_ARR_BOUNDS max is 3
&`config->low D_ADDROF_BITFIELD bit-field
sizeof(`config->low) D_SIZEOF_BITFIELD bit-field
++`counter D_OP_WRITE writable
END
dt -x errtags -n 'pid$target:a.out:stage:entry { trace(`counter); }' \
    -c "$bin/external-stripped"
is "untyped: status" "$status" 1
has "$tmp/err" '\[D_SYM_NOTYPES\].*no symbolic type information is available'
dt -x errtags -n 'pid$target:a.out:stage:entry {
    trace(((struct a.out`none *)arg0)->fd); }' -c "$bin/external-pie"
has "$tmp/err" '\[D_DECL_IDENT\].*cannot find type: struct a.out`none'

# Another program has another variable of that name: it is not taken for it.
start p "$bin/external-pie" wait
start q "$bin/external-nopie" wait
line p '^ready'
line q '^ready'
start_dt dt -q -n 'pid'"${pid[q]}"':a.out:stage:entry { trace(`counter); }' \
    -n 'pid'"${pid[q]}"':a.out:stage:entry { @n = count(); }' \
    -p "${pid[p]}" -p "${pid[q]}"
for i in p q; do
	tell $i go
	line $i '^ready'
done
kill -INT "${pid[dt]}"
end dt
is "faults" "$(grep -c 'invalid address (0x0)' "$tmp/dt.err")" 3
has "$tmp/dt.out" '^ *3$'
for i in p q; do
	tell $i go
	end $i
done
}
finish
