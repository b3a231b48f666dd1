#!/bin/bash
# Arguments and results of functions by their types: in registers of every kind,
# in pieces, on the stack and by address, as the debug information of the
# program says; in C, C++ and Rust.
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need gcc

# shellcheck disable=SC2016 # D, not shell
{
# Clauses that say what the program says of the calls of $2, at $1 (entry or
# return): `say entry FUNC FORMAT EXPRESSIONS'.
say() {
	printf 'pid$target:a.out:%s:%s { printf("%s\\n", %s); }\n' \
	    "$2" "$1" "$3" "$4"
}

{
echo '#pragma D option quiet'
say entry ints 'ints %d %d %d %d %d %d %d %d %d %d' 'args[0], args[1], args[2],
    args[3], args[4], args[5], args[6], args[7], args[8], args[9]'
say return ints 'ints = %d' 'args[1]'
say entry floats 'floats %.2f %.2f %d %.2f %.2f %.2f' 'args[0], args[1],
    args[2], args[3], args[4], args[5]'
say return floats 'floats = %.2f' 'args[1]'
say entry nine 'nine %.2f %.2f %.2f %.2f' 'args[0], args[7], args[8], args[9]'
say return nine 'nine = %.2f' 'args[1]'
say entry objects 'objects %d %d %.2f %d %d %d %.2f %.2f %.2f %d %d %s %u %d %d' \
    'args[0].a, args[0].b, args[1].d, args[1].n, args[2].x, args[2].y,
    args[3].x, args[3].y, args[3].z, args[4].a[0], args[4].a[4],
    stringof(args[5].s), args[6].a, args[6].b, args[6].c'
say return objects 'objects = %d %d' 'args[1].x, args[1].y'
say entry spill 'spill %d %d %d %d %d %d %d %d' 'args[0], args[1].x, args[1].y,
    args[2].x, args[2].y, args[3].x, args[3].y, args[4]'
say return spill 'spill = %.2f %d' 'args[1].d, args[1].n'
say entry others 'others %d %d %.3f %.1f %x %x %.1f %.1f' \
    'args[0].c, args[0].i, args[1].f, args[2].x, arg1, arg2, args[4][1], args[5].v[3]'
say return others 'others = %.3f' 'args[1].f'
say entry deep 'deep %d %d %s %s %d %d %u %u %d %s' 'args[0]->first,
    args[0]->a.b[3], stringof(args[0]->name), stringof(args[0]->next->name),
    args[0]->next->color == GREEN, args[0]->color, args[0]->low, args[0]->high,
    args[2], stringof(args[3])'
say return deep 'deep = %d %s' 'args[1]->first, stringof(args[1]->next->name)'
for f in rchar rbool rushort; do say return $f "$f = %d" 'args[1]'; done
say return rcolor 'rcolor = %d %d' 'args[1], args[1] == BLUE'
say return rsmall 'rsmall = %d %d' 'args[1].a, args[1].b'
say return rodd 'rodd = %s' 'stringof(args[1].s)'
say return rthree 'rthree = %.2f %.2f %.2f' 'args[1].x, args[1].y, args[1].z'
say entry rbig 'rbig %d %d %d' 'args[0], args[1].x, args[1].y'
say return rbig 'rbig = %d %d %d' 'args[1].a[1], args[1].a[3], args[1].a[4]'
say return rlong 'rlong = %.2f' 'args[1]'
say return rcf 'rcf = %.2f %.2f' 'args[1][0], args[1][1]'
say entry rcd 'rcd %.2f %.2f' 'args[0][0], args[0][1]'
say return rcd 'rcd = %.2f %.2f' 'args[1][0], args[1][1]'
say return rcl 'rcl = %.2f %.2f' 'args[1][0], args[1][1]'
say return rint128 'rint128 = %x %x' 'arg1, (long)uregs[R_RDX]'
say return rvec 'rvec = %.1f %.1f' 'args[1][0], args[1][3]'
} >"$tmp/all.d"
# CTF, if dtrap is built with it, knows no vectors, and so not the place of what
# stands behind one.
grep -vE ':(others:entry|rvec:return)' "$tmp/all.d" >"$tmp/ctf.d"
ctf=ctf
built_with CTF || ctf=
for how in o0 o2 static dwarf4 split debuglink $ctf; do
	script=$tmp/all.d
	[ "$how" != ctf ] || script=$tmp/ctf.d
	dt -x switchrate=10ms -s "$script" -o "$tmp/seen" -c "$bin/typed-$how"
	is "$how: status" "$status" 0
	is "$how: lines" "$(grep -c . "$tmp/out")" 120
	[ "$how" != ctf ] || sed -i -E '/^(others [0-9]|rvec)/d' "$tmp/out"
	sed -i '/^$/d' "$tmp/seen"
	same "$how" "$tmp/out" "$tmp/seen"
	rm -f "$tmp/seen"
done

# Raw arguments are what they were, beside typed ones.
dt -q -o "$tmp/raw" -n 'pid$target:a.out:ints:entry { printf("%x %d %d %d\n",
    arg0 & 0xff, args[0], (int)arg4, args[4]); exit(0); }' -c "$bin/typed-o2"
is raw "$(cat "$tmp/raw")" 'ff -1 -70001 -70001'

# A whole structure, from memory and from registers; enumerators by name.
dt -q -o "$tmp/print" -n '
    pid$target:a.out:deep:entry /args[2] == GREEN/ { print(*args[0]); }
    pid$target:a.out:objects:entry /args[0].a == 2/ { print(args[1]);
	this->p = args[2]; print(this->p); self->t = args[3]; self->on = 1; }
    pid$target:a.out:objects:return /self->on/ {
	print(self->t); exit(0); }' -c "$bin/typed-o2"
cat >"$tmp/want" <<'END'
(outer_t) {
.first = (long)1,
.a = (struct inner) {
.tag = (char)'t',
.b = (int [4]) [
(int)1,
(int)2,
(int)3,
(int)-1,
],
},
.next = (struct outer *)PTR,
.name = (const char *)PTR,
.color = (enum color)GREEN,
.low = (unsigned int)1,
.high = (unsigned int)300,
}
(struct mixed) {
.d = (double)1,
.n = (long)102,
}
(struct pair) {
.x = (long)-2,
.y = (long)1002,
}
(struct three) {
.x = (float)2,
.y = (float)1,
.z = (float)0.5,
}
END
sed -e 's/^ *//' -e 's/\*)0x[0-9a-f]*/*)PTR/' -e '/^$/d' "$tmp/print" \
    >"$tmp/printed"
same print "$tmp/want" "$tmp/printed"

# Types by name.
for how in o2 $ctf; do
	rm -f "$tmp/byname"
	dt -q -o "$tmp/byname" -n 'pid$target:a.out:deep:entry {
	    printf("%d %d %s", sizeof(struct outer),
	    ((outer_t *)arg0)->a.b[3],
	    ((struct a.out`outer *)arg0)->next->color == GREEN ? "y" : "n");
	    exit(0); }' -c "$bin/typed-$how"
	is "$how: by name" "$(cat "$tmp/byname")" '56 -1 y'
done

# What -l -v says of them.
dt -l -v -n 'pid$target:a.out:deep:entry, pid$target:a.out:deep:return,
    pid$target:a.out:rvoid:return' -c "$bin/typed-o2"
sed -n 's/^\t\targs/args/p' "$tmp/out" >"$tmp/listed"
cat >"$tmp/want" <<'END'
args[0]: outer_t *
args[1]: struct outer **
args[2]: enum color
args[3]: const char *
args[0]: unsigned long
args[1]: outer_t *
args[0]: unsigned long
END
same listed "$tmp/want" "$tmp/listed"

# What has no types, and why; functions that differ.
while read -r how desc n tag text; do
	if [ "$how" = ctf ] && [ -z "$ctf" ]; then
		tag=D_ARGS_IDX
		text='there is no debug information in typed-ctf'
	fi
	dt -x errtags -n 'pid$target:a.out:'"$desc"' { trace(args['"$n"']); }' \
	    -c "$bin/typed-$how"
	is "$how $desc: status" "$status" 1
	has "$tmp/err" "\[$tag\].*$text"
done <<'END'
plain deep:entry 0 D_ARGS_IDX there is no debug information in typed-plain, and no /usr/lib/debug/.build-id/../[0-9a-f]*.debug
o2 deep:entry 4 D_ARGS_IDX index 4 is out of range
o2 rvoid:return 1 D_ARGS_IDX the function returns nothing
o2 deep:0 0 D_ARGS_IDX inside a function their location is not known
o2 r*:entry 0 D_ARGS_MULTI matches an unstable set of probes
ctf others:entry 4 D_ARGS_TYPE it is not known where it is passed
o2 _start:entry 0 D_ARGS_IDX the debug information of typed-o2 does not describe it
END

# C++: `this', references, virtual functions, classes that are passed by address
# (args[] is the object all the same), empty ones, templates.
{
echo '#pragma D option quiet'
say entry '_ZNK4shop5offer5price*' 'offer price %s %d %d %d' \
    'stringof(args[0]->label), args[0]->cents, args[0]->off, args[1]'
say return '_ZNK4shop5offer5price*' 'offer price = %d' 'args[1]'
say entry '_ZNK4shop4item5price*' 'item price %s %d %d' \
    'stringof(args[0]->label), args[0]->cents, args[1]'
say return '_ZNK4shop4item5price*' 'item price = %d' 'args[1]'
say entry '*4made*' 'made %d %s' 'args[0], stringof(args[1]->label)'
say return '*4made*' 'made = %d' 'args[1]'
say entry '*5where*' 'where %d %d %d' 'args[0]->cents, args[1], args[3]'
say return '*5where*' 'where = %d %d' 'args[1].x, args[1].y'
say entry '_ZN4shop4swap*' 'swap %d %d %d %d %d' 'args[0].id, args[1],
    args[2].level, args[3]->held.id, args[3]->tail'
say return '_ZN4shop4swap*' 'swap = %d' 'args[1].id'
say entry '*7seventh*' 'seventh %d %d' 'args[5], args[6].id'
say return '*7seventh*' 'seventh = %d' 'args[1]'
say entry '*5twice*' 'twice %d' 'args[0]'
say return '*5twice*' 'twice = %d' 'args[1]'
} >"$tmp/cc.d"
dt -x switchrate=10ms -s "$tmp/cc.d" -o "$tmp/seen" -c "$bin/typedcc"
is "C++: status" "$status" 0
is "C++: lines" "$(grep -c . "$tmp/out")" 42
sed -i '/^$/d' "$tmp/seen"
same "C++" "$tmp/out" "$tmp/seen"
rm -f "$tmp/seen"

# The library's own string class: one argument is a reference, one a copy, the
# result is made where the caller says.
dt -q -o "$tmp/string" -n 'pid$target:a.out:*6repeatE*:entry {
	printf("%s %d %s ", stringof(args[0]->_M_dataplus._M_p), args[1],
	    stringof(args[2]._M_dataplus._M_p)); }
    pid$target:a.out:*6repeatE*:return {
	printf("%s\n", stringof(args[1]._M_dataplus._M_p)); }' \
    -c "$bin/typedcc"
is "C++ string" "$(tr -s ' \n' ' ' <"$tmp/string")" \
    'ab 1 end abend ab 2 end ababend ab 3 end abababend '

# A library that comes later, whose function has another prototype: the clause
# that looks at args[] is not for it, others are.  The same prototype will do.
lib() {
	printf 'struct s { int a; %s };\nint stage(%s) { return %s; }\n' \
	    "$2" "$3" "$4" >"$tmp/$1.c"
	gcc -g -O1 -fPIC -shared -o "$tmp/$1.so" "$tmp/$1.c"
}
lib libone 'int b;' 'struct s *s' 's->b'
lib libtwo 'int b;' 'struct s *s' 's->b + 1'
lib libthree 'long x; int b;' 'struct s *s' 's->b'
lib libfour 'int b;' 'double s' '(int)s'
cat >"$tmp/late.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
static int twin(int a) { __asm__ volatile("" : : "r"(a)); return a; }
int other(void), stage(void *);
int main(int argc, char **argv)
{
	int s[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, n = stage(s) + other() + twin(1);
	for (int i = 1; i < argc; i++) {
		int (*f)(void *) = dlsym(dlopen(argv[i], RTLD_NOW), "stage");
		n += f(s);
	}
	return n == 0;
}
END
cat >"$tmp/twin.c" <<'END'
static int twin(char *a) { __asm__ volatile("" : : "r"(a)); return *a; }
int other(void) { return twin("x"); }
END
gcc -g -O0 -o "$tmp/late" "$tmp/late.c" "$tmp/twin.c" -L"$tmp" -lone \
    -Wl,-rpath,"$tmp"
dt -q -o "$tmp/late.out" -n 'pid$target:lib*:stage:entry {
	printf("%s %d ", probemod, args[0]->b); }
    pid$target:lib*:stage:entry { @[probemod] = count(); }' \
    -c "$tmp/late $tmp/libtwo.so $tmp/libthree.so $tmp/libfour.so"
is "late" "$(tr -s ' \n' ' ' <"$tmp/late.out")" \
    'libone.so 2 libtwo.so 2 libfour.so 1 libone.so 1 libthree.so 1 libtwo.so 1 '
is "late: notices" \
    "$(sed -n 's/^dtrap: pid[0-9]*:\(lib[a-z.]*\):stage:entry does not fire.*/\1/p' \
    "$tmp/err" | sort | tr '\n' ' ')" 'libfour.so libthree.so '

# The process executes other programs of that name, with the function at other
# places: one has the same prototype, one has members elsewhere.
again() {
	mkdir -p "$tmp/$1"
	cat >"$tmp/$1/again.c" <<END
#include <unistd.h>
struct s { $2 int b; };
__attribute__((noipa)) int stage(struct s *s) { return s->b; }
$3
int main(int argc, char **argv)
{
	struct s s = { .b = argc };
	stage(&s);
	return argc > 1 ? execv(argv[1], argv + 1) : 0;
}
END
	gcc -g -O1 -o "$tmp/$1/again" "$tmp/$1/again.c"
}
again first 'int a;' ''
again second 'int a;' 'int before(int n) { return n * n * n; }'
again third 'long a;' 'int before(int n) { return n + 3; }'
dt -q -o "$tmp/again" -n 'pid$target:again:stage:entry { @[args[0]->b] = count(); }
    pid$target:again:stage:return { @r[probename] = count(); }' \
    -c "$tmp/first/again $tmp/second/again $tmp/third/again $tmp/second/again"
is "again" "$(awk 'NF == 2 { print $1, $2 }' "$tmp/again" | tr '\n' ' ')" \
    '1 1 3 1 4 1 return 4 '
is "again: notices" "$(grep -c 'again:stage:entry does not fire: its args' \
    "$tmp/err")" 1

dt -x errtags -n 'pid$target:late:twin:entry { trace(args[0]); }' \
    -c "$tmp/late"
has "$tmp/err" '\[D_ARGS_MULTI\].*matches an unstable set of probes'

# Rust, where its compiler is installed.
if ! command -v rustc >/dev/null; then
	echo "rustc is not installed: no functions of Rust"
	finish
fi
rustc -g -o "$tmp/rs" t/e2e/src/typedrs.rs 2>"$tmp/err" || fail "rustc"
cat >"$tmp/rs.d" <<'END'
#pragma D option quiet
pid$target:a.out:*typed_draw*:entry {
	printf("draw %d %d %s %d %d %s %d %.2f %d\n", args[0]->from.x,
	    args[0]->to.y, stringof(args[0]->name), args[1], args[2], stringof(args[3]),
	    args[4].vec.len, args[5], args[6]); }
pid$target:a.out:*typed_draw*:return { printf("draw = %.2f\n", args[1]); }
pid$target:a.out:*typed_make*:return { printf("make = %d %s %.2f\n",
    args[1].from.y, stringof(args[1].name), args[1].weight); }
pid$target:a.out:*typed_label*:return { printf("label = %s\n", stringof(args[1])); }
pid$target:a.out:typed_c:entry { printf("c %d %d %d %d %d\n", args[0].a,
    args[0].c, args[1].x, args[1].y, args[2]); }
pid$target:a.out:typed_c:return { printf("c = %d %d %d\n", args[1].a,
    args[1].b, args[1].c); }
pid$target:a.out:*typed_part*:entry { this->all = (int *)copyin(args[0]);
    printf("part %d %d %s\n", this->all[0], this->all[args[0].length - 1],
    stringof(args[1])); }
pid$target:a.out:*typed_part*:return { printf("part = %d\n", args[1]); }
pid$target:a.out:*typed_shifted*:entry {
	printf("shifted %d %d", args[0]->x, args[1]); }
pid$target:a.out:*typed_shifted*:return {
	printf(" = %d %d\n", args[1], args[1] == Large); }
END
dt -C -x switchrate=10ms -s "$tmp/rs.d" -o "$tmp/seen" -c "$tmp/rs"
is "Rust: status" "$status" 0
is "Rust: lines" "$(grep -c . "$tmp/out")" 27
sed -i '/^$/d' "$tmp/seen"
same "Rust" "$tmp/out" "$tmp/seen"
}
finish
