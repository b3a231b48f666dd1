#!/bin/bash
# One program, built by other compilers, linkers and C libraries, and with other
# options, than the rest of the tests: entry, return, args[] and stacks.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need gcc

cat >"$tmp/ways.d" <<'END'
#pragma D option quiet
#pragma D option switchrate=10ms
pid$target:a.out:middle:entry { printf("middle %d\n", args[1]); }
pid$target:a.out:middle:return { printf("middle = %d\n", args[1]); }
pid$target:a.out:leaf:entry
{
	printf("leaf %d %s %d %d %.2f\n", args[0], stringof(args[1]), args[2].x,
	    args[2].y, args[3]);
}
pid$target:a.out:leaf:return
{
	printf("leaf = %.2f\nstack", args[1]);
	ustack();
	printf("end\n");
}
END

# way NAME COMMAND...: build and trace, if the command is there.
way() {
	local name=$1
	shift
	if ! command -v "$1" >/dev/null; then
		echo "$name: $1 is not installed"
		return
	fi
	"$@" -g -o "$tmp/$name" t/e2e/src/ways.c 2>"$tmp/err" || {
		wrong "$name: cannot be built"
		head -n 3 "$tmp/err"
		return
	}
	dt -s "$tmp/ways.d" -o "$tmp/$name.seen" -c "$tmp/$name"
	is "$name: status" "$status" 0
	is "$name: lines" "$(grep -c . "$tmp/out")" 15
	# Stacks on one line: of the program's functions, not of the library's.
	awk '/^stack/ { s = $0; next }
	    /^end/ { print s; s = ""; next }
	    s != "" { sub(/.*`/, ""); sub(/\+.*/, "")
		if (/^(leaf|compare|middle|main)$/) s = s " " $0; next }
	    NF > 0' "$tmp/$name.seen" >"$tmp/got"
	# Debian's musl has no unwind entries: behind it frames are found by
	# chance.
	case $name in
	musl*) sed -i 's/^\(stack leaf compare\).*/\1/' "$tmp/out" "$tmp/got" ;;
	esac
	same "$name" "$tmp/out" "$tmp/got"
}

# bolted OPTION... [-o FILE SOURCE]: built with relocations, which BOLT needs,
# and laid out anew by it: hot parts and cold ones apart, and debug information
# made to follow.
# shellcheck disable=SC2317 # way() calls it
bolted() {
	gcc -O2 -Wl,--emit-relocs "$@" &&
	    llvm-bolt-16 "$tmp/bolt" -o "$tmp/bolt.new" -update-debug-sections \
		-split-functions -split-all-cold -reorder-functions=none \
		>"$tmp/bolt.log" 2>&1 &&
	    mv "$tmp/bolt.new" "$tmp/bolt"
}

way gcc gcc -O2
way gcc-o0 gcc -O0
way gcc-o3 gcc -O3 -march=x86-64-v3
way no-plt gcc -O2 -fno-plt
way now gcc -O2 -Wl,-z,now -Wl,-z,relro
way cet gcc -O2 -fcf-protection=full
way frame gcc -O2 -fno-omit-frame-pointer
way no-frame gcc -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables
way sections gcc -O2 -ffunction-sections -Wl,--gc-sections -Wl,--icf=none \
    -fuse-ld=gold
way gold gcc -O2 -fuse-ld=gold
way lld gcc -O2 -fuse-ld=lld
way lto gcc -O2 -flto
way static gcc -O2 -static
way static-pie gcc -O2 -static-pie
way no-pie gcc -O2 -no-pie -fno-pie
way large gcc -O2 -no-pie -fno-pie -mcmodel=large
way musl musl-gcc -O2
way musl-static musl-gcc -O2 -static
if command -v llvm-bolt-16 >/dev/null; then
	way bolt bolted
else
	echo "bolt: llvm-bolt-16 is not installed"
fi
way clang clang -O2
way clang-o0 clang -O0
way clang-lld clang -O2 -fuse-ld=lld
way clang-lto clang -O2 -flto -fuse-ld=lld
way clang-thin clang -O2 -flto=thin -fuse-ld=lld
way clang-cet clang -O2 -fcf-protection=full
way clang-no-plt clang -O2 -fno-plt
way clang-static clang -O2 -static
finish
