#!/bin/bash
# dtrap -h and -G: headers and objects for programs with static probes.
. "${0%/*}/lib.sh"
need "${CC:-cc}" readelf ar
cc=${CC:-cc}
cd "$tmp" || exit 2

# build TEXT: what is declared in p.d.
declare_probes() {
	printf '%s\n' "$1" >p.d
	rm -f p.h p.o
}

declare_probes 'provider linux__app {
	probe start(int, char *);
	probe d__ash();
	probe many(int, int, int, int, int, int, int, int, int, int, int, int, int);
};'
dt -h -s p.d
is "-h: status" "$status" 0
is "-h: output" "$(cat out err)" ""
has p.h '^#ifndef _P_H$'
for m in START D_ASH MANY; do
	has p.h "^#define LINUX_APP_$m\\("
	has p.h "^#define LINUX_APP_${m}_ENABLED\\(\\)"
done
cp p.h first.h
dt -h -s p.d
same "two runs of -h" first.h p.h
dt -h -s p.d -o other.h
has other.h '^#ifndef _OTHER_H$'

# Usable in strict and in old C, without a warning; twice in one file, too.
cat >p.c <<'C'
#include "p.h"
#include "p.h"
int
main(int argc, char **argv)
{
	short s = 1;
	if (argc > 100)
		LINUX_APP_START(s, argv[0]);
	else
		LINUX_APP_D_ASH();
	return LINUX_APP_START_ENABLED() ? (LINUX_APP_D_ASH(), 1) : 0;
}
C
for std in gnu89 c99 gnu11; do
	"$cc" -std=$std -Wall -Wextra -Werror -c p.c -o "p-$std.o" ||
	    wrong "$std: the header does not compile"
done
dt -G -s p.d p-gnu11.o
is "-G: status" "$status" 0
is "-G: output" "$(cat out err)" ""
readelf -hSW p.o >elf 2>&1 || wrong "-G: not an object"
has elf 'REL \(Relocatable file\)'
has elf ' \.SUNW_dof +PROGBITS'
hasnt elf '\.note\.GNU-stack.*X'

# Linked with and without it, whatever the linker throws away.
"$cc" p-gnu11.o p.o -o with || wrong "does not link with the object"
"$cc" p-gnu11.o -o without || wrong "does not link without the object"
"$cc" -Wl,--gc-sections p-gnu11.o p.o -o gc || wrong "does not link"
"$cc" -static p-gnu11.o p.o -o static || wrong "does not link statically"
for p in with without gc static; do
	# shellcheck disable=SC2016
	dt -q -n 'linux-app$target:::d-ash { printf("%s\n", probename); }' \
	    -c "./$p"
	is "$p: probes" "$(sed '/^$/d' out | tr '\n' ' ')" "d-ash "
	# shellcheck disable=SC2016
	dt -lv -n 'linux-app$target:::start' -c "./$p"
	case $p in
	without) want='args[1]: uint64_t' ;;
	*) want='args[1]: char *' ;;
	esac
	is "$p: type" "$(sed -n 's/^\t\targs\[1/args[1/p' out)" "$want"
done

# Values are those of the declared types, and two providers' types do not get
# into each other's way.
cat >a.d <<'D'
provider aa { probe conv(short, uint8_t, int, unsigned, long, uint64_t); };
D
cat >b.d <<'D'
provider bb { probe conv(int8_t n, char *s) : (char *s, int8_t n); };
D
cat >ab.c <<'C'
#include "a.h"
#include "b.h"
int
main(int argc, char **argv)
{
	long l = -70000 + argc - 1;
	unsigned u = 0xffffffff + (argc - 1U);
	AA_CONV(l, 0x1ff, u, -1, -1 + argc - 1, -2);
	BB_CONV(0x180, "text");
	return 0;
}
C
dt -h -s a.d
dt -h -s b.d
"$cc" -O2 -c ab.c || wrong "two headers do not compile"
dt -G -s a.d ab.o
dt -G -s b.d ab.o
"$cc" ab.o a.o b.o -o ab || wrong "two providers do not link"
cat >ab.d <<'D'
aa$target:::conv { printf("%d %d %d %d %d %d\n", args[0], args[1], args[2],
	args[3], args[4], args[5]); }
bb$target:::conv { printf("%s %d\n", stringof(args[0]), args[1]); }
D
dt -q -s ab.d -c ./ab
printf '%s\n' '-4464 255 -1 4294967295 -1 18446744073709551614' 'text -128' >want
sed '/^$/d' out >seen
same "converted arguments" want seen

# Which program an object belongs to, and where it goes.
declare_probes 'provider v { probe p(int); };'
dt -G -s p.d -o named.o
is "-o: status" "$status" 0
[ -s named.o ] || wrong "-o: no named.o"
[ -e p.o ] && wrong "-o: p.o, too"
dt -G -n 'BEGIN { exit(0); }'
[ -s d.out ] || wrong "no d.out"
dt -e -G -s p.d
[ -e p.o ] && wrong "-e wrote an object"

# -x strip, linktype, ldpath
dt -G -s p.d
dt -G -x strip -s p.d -o stripped.o
[ "$(wc -c <stripped.o)" -lt "$(wc -c <p.o)" ] || wrong "strip: not smaller"
dt -G -x linktype=dof -s p.d -o raw
is "linktype=dof: begins with" "$(head -c 4 raw | od -An -tx1)" " 7f 44 4f 46"
dt -G -x linktype=elves -s p.d
is "linktype=elves: status" "$status" 1
dt -G -x ldpath=ld -s p.d -o linked.o
is "ldpath=ld: status" "$status" 0
readelf -SW linked.o >elf 2>&1
has elf '\.SUNW_dof'
dt -G -x ldpath=/nonexistent/ld -s p.d
is "ldpath: status" "$status" 1
has err '^dtrap: failed to link script p: failed to link p.o: /nonexistent/ld exited with status 127$'
is "ldpath: files left" "$(echo p.o.*)" 'p.o.*'

# Objects that cannot be meant.
ar rc lib.a p-gnu11.o
head -c 100 "$DTRAP" | tail -c 50 >text
cp p-gnu11.o small.o
printf '\x01' | dd of=small.o bs=1 seek=4 conv=notrunc 2>/dev/null
refused() {
	dt -G -s p.d "${@:2}"
	is "${*:2}: status" "$status" 1
	is "${*:2}: lines" "$(wc -l <err)" 1
	has err "^dtrap: failed to link script p: $1"
}
refused 'archives are not permitted.*: lib\.a$' lib.a
refused 'not an ELF file: text$' text
refused 'not a relocatable object: with$' with
refused 'incorrect ELF class for object file: small\.o$' p-gnu11.o small.o
refused 'incorrect ELF class for object file: p-gnu11\.o$' -32 p-gnu11.o
refused 'failed to open missing\.o: ' missing.o

# Wrong usage.
dt -h -n 'BEGIN { }'
is "-h without a script: status" "$status" 2
has err '^dtrap: -h requires an output file'
dt -h -G -s p.d
is "-h -G: status" "$status" 2
dt -h -s p.d -o "$tmp/no/such/dir.h"
is "-h: status when it cannot be written" "$status" 1
dt -32 -n 'BEGIN { exit(0); }'
is "-32: status" "$status" 1
finish
