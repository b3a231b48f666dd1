#!/bin/sh
# Every built-in variable, subroutine, action, aggregating function and option
# of the tables stands in the program or on the command line of a golden test,
# or in an end-to-end test; so does every printf conversion.  Words of comments
# do not count, and names that begin with __ are the D library's own: tests
# reach those through what is made of them.
cd "$(dirname "$0")/../.." || exit 2
bad=0
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

missing() {
	echo "$1: no test uses $2"
	bad=1
}

# Names in the first string of a table's rows.
rows() {
	sed -n "s/^$1([^\"]*\"\([a-zA-Z_0-9]*\)\".*/\1/p" "$2" | grep -v '^__'
}

# The tests without their comments, except those that say how to run them.
sed -E '/@(opts|args):/!{s,/\*.*\*/,,; /^[ ]?\*/d; /^[ ]*\/\*/d}' \
    t/d/*/*.d >"$work/text"
sed '/^[	 ]*#/d' t/e2e/*.sh >>"$work/text"
grep -oE '[A-Za-z_][A-Za-z_0-9]*' "$work/text" | sort -u >"$work/words"

for table in 'DIF_VAR dlang/dif_vars.def' 'DIF_SUBR dlang/dif_subrs.def' \
    'DIF_ACT dlang/dif_acts.def' 'DIF_AGG dlang/dif_aggs.def' \
    'OPTION dlang/options.def'; do
	# shellcheck disable=SC2086
	names=$(rows $table)
	[ -n "$names" ] || missing "${table#* }" "any row: none is found"
	for name in $names; do
		grep -qx "$name" "$work/words" || missing "${table#* }" "$name"
	done
done
while read -r c; do
	grep -E 'print[fa]|system|freopen|%' "$work/text" |
	    grep -qE "%[-+ #'?@*.0-9hlL]*$c" || missing dlang/fmt.def "%$c"
done <<EOF
$(sed -n "s/^FMT_CONV('\(.\)'.*/\1/p" dlang/fmt.def)
EOF
exit "$bad"
