#!/bin/bash
# make install: what is installed works from there, by every way in; make
# uninstall leaves nothing of it, and all else.
. "${0%/*}/lib.sh"
need make pkg-config nm
CC=${CC:-cc}
# The build is used as it is.
ctf=yes
built_with CTF || ctf=no

made() {
	make -s B="$B" CTF="$ctf" "$@" >"$tmp/make.out" 2>"$tmp/make.err" ||
	    fail "make $*: $?"
}

mkdir -p "$tmp/usr/bin" "$tmp/usr/share/man/man1"
echo other >"$tmp/usr/bin/dtrap-other"
echo other >"$tmp/usr/share/man/man1/other.1"
find "$tmp/usr" ! -type d | sort >"$tmp/before"
made install PREFIX="$tmp/usr"
find "$tmp/usr" ! -type d | sort >"$tmp/installed"
is "links to nothing" "$(find "$tmp/usr" -xtype l)" ''

export PATH=$tmp/usr/bin:$PATH
DTRAP=$tmp/usr/bin/dtrap
dt -V -v
version=$(sed -n 's/^This is dtrap \([^ ]*\).*/\1/p' "$tmp/out")
is version "$version" "$(sed -n 's/^VERSION := //p' Makefile)"

# Nothing but main() exits: libiberty's allocation would, with probes armed.
nm "$DTRAP" >"$tmp/symbols"
has "$tmp/symbols" ' [Tt] xmalloc$'
hasnt "$tmp/symbols" ' [Tt] xexit$'

# Each script is a command, which has a manual and completion.
n=0
for s in scripts/*; do
	if [ ! -x "$s" ] || [ ! -f "$s" ]; then continue; fi
	c=dtrap-$(basename "$s" .d)
	n=$((n + 1))
	[ -x "$tmp/usr/bin/$c" ] || wrong "no command $c"
	grep -q "^\.Ss $(basename "$s" .d)\$" "$tmp/usr/share/man/man1/$c.1" ||
	    wrong "the manual of $c does not name it"
	cmp -s "$tmp/usr/share/bash-completion/completions/$c" \
	    "$B/completion/dtrap" || wrong "no completion of $c"
done
[ "$n" -gt 20 ] || wrong "$n scripts"
dtrap-opensnoop -c "$bin/work-files $tmp/d 1 0 1 0" >"$tmp/out" 2>"$tmp/err" ||
    wrong "dtrap-opensnoop: $?"
has "$tmp/out" " work-files .* $tmp/d/"
dtrap-leaks 2>"$tmp/err" && wrong "dtrap-leaks without arguments"
has "$tmp/err" '^usage: leaks '

# A program with static probes, by what pkg-config says.
export PKG_CONFIG_PATH=$tmp/usr/share/pkgconfig
is "pkg-config's version" "$(pkg-config --modversion dtrap)" "$version"
is "pkg-config's dtrap" "$(pkg-config --variable=dtrap dtrap)" "$DTRAP"
cat >"$tmp/shop.c" <<'END'
#include <sys/sdt.h>
int main(void) { DTRACE_PROBE1(shop, sold, 42); return 0; }
END
# shellcheck disable=SC2046 # options
$CC $(pkg-config --cflags dtrap) -o "$tmp/shop" "$tmp/shop.c" ||
    fail "shop.c does not compile"
# shellcheck disable=SC2016 # dtrap expands it
dt -q -n 'shop$target:::sold { printf("%d", arg0); }' -o "$tmp/sold" \
    -c "$tmp/shop"
is sold "$(cat "$tmp/sold")" 42

# One that makes them while it runs, with the shared library and the static one.
export PKG_CONFIG_PATH=$tmp/usr/lib/pkgconfig
is "the library's version" "$(pkg-config --modversion dtrap-sdt)" "$version"
for how in shared static; do
	lib=$(pkg-config --libs dtrap-sdt)
	[ $how = shared ] || lib=$tmp/usr/lib/libdtrap-sdt.a
	# shellcheck disable=SC2046,SC2086 # options
	$CC $(pkg-config --cflags dtrap-sdt) -o "$tmp/bar" doc/examples/bar.c $lib ||
	    fail "bar.c does not compile"
	# shellcheck disable=SC2016 # dtrap expands it
	LD_LIBRARY_PATH=$tmp/usr/lib dt -q -Z -o "$tmp/served-$how" -n '
	    bar$target:::tea { printf("%d %s", arg0, copyinstr(arg1)); exit(0); }' \
	    -c "timeout 60 $tmp/bar bar tea"
	is "served, $how" "$(cat "$tmp/served-$how")" '1 please'
done
nm -D --defined-only "$tmp/usr/lib/libdtrap-sdt.so.1" | sed 's/.* //' | sort >"$tmp/names"
sed -n 's/^.*\(dtrap_pro[a-z]*_[a-z]*\)(.*/\1/p' include/dtrap-provider.h |
    grep -vx dtrap_probe_watched | sort -u >"$tmp/declared"
same "names of the library" "$tmp/declared" "$tmp/names"

made uninstall PREFIX="$tmp/usr"
find "$tmp/usr" ! -type d | sort >"$tmp/after"
same "before and after" "$tmp/before" "$tmp/after"
is "directories of ours" "$(find "$tmp/usr" -type d -name 'dtrap*')" ''

# For a package: all below DESTDIR, as it will be called without that.
made install DESTDIR="$tmp/dest" PREFIX=/usr
(cd "$tmp/dest" && find usr ! -type d) | sort >"$tmp/there"
(cd "$tmp" && sed "s|^$tmp/||" installed | grep -v other) >"$tmp/wanted"
same DESTDIR "$tmp/wanted" "$tmp/there"
is "files that know DESTDIR" "$(grep -rlF "$tmp" "$tmp/dest")" ''
made uninstall DESTDIR="$tmp/dest" PREFIX=/usr
is "left below DESTDIR" "$(find "$tmp/dest" ! -type d)" ''
finish
