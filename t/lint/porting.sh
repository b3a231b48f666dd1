#!/bin/sh
# doc/porting.md names each file that a port writes, and no other; each folder of
# x86-64 has a sibling none/, except that of the agent, which is no part of dtrap.
cd "$(dirname "$0")/../.." || exit 2
bad=0
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

find dlang disasm symbols inject sdt tracer -path '*/x86_64/*' -type f |
    sort >"$work/files"
# shellcheck disable=SC2016
sed -n 's,^| `\([^`]*/x86_64/[^`]*\)` |.*,\1,p' doc/porting.md |
    sort >"$work/named"
[ -s "$work/files" ] || { echo "no file of x86-64 is found"; bad=1; }
diff "$work/named" "$work/files" >"$work/diff" || {
	sed -n -e 's/^</doc\/porting.md names what is not there:/p' \
	    -e 's/^>/doc\/porting.md does not name/p' "$work/diff"
	bad=1
}
# What asks, in the last column, is there too.
# shellcheck disable=SC2016
grep -o '`[a-z_/]*\.[ch]`' doc/porting.md | tr -d '`' | grep / | sort -u |
    while read -r f; do
	[ -e "$f" ] || echo "doc/porting.md: there is no $f"
done >"$work/missing"
[ ! -s "$work/missing" ] || { cat "$work/missing"; bad=1; }

for machine in x86_64 none; do
	find dlang disasm symbols inject sdt tracer -name "$machine" -type d |
	    sed "s,/$machine\$,," | grep -vx inject/agent | sort >"$work/$machine"
done
diff "$work/x86_64" "$work/none" || bad=1
exit "$bad"
