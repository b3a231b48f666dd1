#!/bin/bash
# Functions without a name: listed, probed and printed as sub_ADDRESS, the
# address that nm has of the same program before it was stripped.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"
need readelf strip nm git

# functions FILE: what -l lists of the description, one a line.
functions() {
	dt -l -n "$1" -c "$2"
	awk '$2 ~ /^pid[0-9]/ { print $4 }' "$tmp/out" | sort
}

# entries FILE: sub_ADDRESS for each unwind entry of a compiler.
entries() {
	local plts
	plts=$(readelf -SW "$1" | sed -n 's/^ *\[ *[0-9]*\] *\.plt[^ ]* *[A-Z]* *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\).*/\1 \2/p')
	readelf -wF "$1" | PLTS=$plts perl -ne '
		BEGIN { @plts = map { [map { hex } split] } split /\n/, $ENV{PLTS} }
		next unless /FDE.*pc=([0-9a-f]+)\.\./;
		my $at = hex $1;
		next if grep { $at >= $_->[0] && $at < $_->[0] + $_->[1] } @plts;
		printf "sub_%x\n", $at' | sort -u
}

# name FILE FUNCTION: what it is called once it has no name.
name() {
	nm "$1" | awk -v f="$2" '$3 == f { sub(/^0*/, "", $1); print "sub_" $1 }'
}

cp "$bin/args" "$tmp/whole"
strip -o "$tmp/bare" "$tmp/whole"
negative=$(name "$tmp/whole" negative)
branches=$(name "$tmp/whole" branches)
main=$(name "$tmp/whole" main)

# ---- what is listed ----

entries "$tmp/bare" >"$tmp/want"
functions 'pid$target:a.out:sub_*:entry' "$tmp/bare" >"$tmp/got"
same "sub_*" "$tmp/want" "$tmp/got"
hasnt "$tmp/err" 'no function symbols'
functions 'pid$target:a.out::entry' "$tmp/bare" >"$tmp/got"
same "all, in a program without a name" "$tmp/want" "$tmp/got"
is "the line that says so" "$(grep -c "^dtrap: bare has no function symbols: '\*' matches its functions by address, sub_ADDRESS\$" "$tmp/err")" 1
is "one by its address" \
    "$(functions 'pid$target:a.out:'"$negative"':entry' "$tmp/bare")" "$negative"
is "none between functions" \
    "$(functions 'pid$target:a.out:'"$negative"'0:entry' "$tmp/bare")" ""
# Where functions have names, they are not called by addresses as well.
functions 'pid$target:a.out::entry' "$tmp/whole" >"$tmp/got"
hasnt "$tmp/got" '^sub_'
has "$tmp/got" '^negative$'
is "a name's address" \
    "$(functions 'pid$target:a.out:'"$negative"':entry' "$tmp/whole")" ""

# The seldom parts of functions are no functions.
cp "$bin/split" "$tmp/split" && strip "$tmp/split"
nm "$bin/split" | awk '$3 ~ /\.cold$/ { sub(/^0*/, "", $1); print "sub_" $1 }' |
    sort >"$tmp/cold"
[ -s "$tmp/cold" ] || wrong "split has no seldom parts"
functions 'pid$target:a.out::entry' "$tmp/split" >"$tmp/got"
comm -12 "$tmp/cold" "$tmp/got" >"$tmp/listed"
same "seldom parts that are listed" /dev/null "$tmp/listed"
entries "$tmp/split" | comm -23 - "$tmp/cold" >"$tmp/want"
same "the functions of split" "$tmp/want" "$tmp/got"

# Of a real program: one function has a name.
git=$(command -v git)
if [ "$(readelf -SW "$git" | grep -c '\.symtab')" = 0 ]; then
	entries "$git" >"$tmp/all"
	nm -D --defined-only "$git" | awk '$2 ~ /^[TW]$/ { sub(/^0*/, "", $1); print "sub_" $1 }' |
	    sort >"$tmp/exported"
	comm -23 "$tmp/all" "$tmp/exported" >"$tmp/want"
	LIMIT=300 functions 'pid$target:a.out:sub_*:entry' "$git version" \
	    >"$tmp/got"
	# Not what the compiler has put elsewhere of a function.
	comm -13 "$tmp/want" "$tmp/got" >"$tmp/more"
	same "more sub_* of git" /dev/null "$tmp/more"
	pieces=$(comm -23 "$tmp/want" "$tmp/got" | wc -l)
	[ $((pieces * 100)) -lt "$(wc -l <"$tmp/want")" ] ||
	    wrong "$pieces functions of git are missing"
	n=$(wc -l <"$tmp/exported")
	is "named of git" \
	    "$(functions 'pid$target:a.out:*:entry' "$git version" | wc -l)" "$n"
	has "$tmp/err" "^dtrap: git has no symbol table: '\*' means the $n functions? that it exports, 'sub_\*' the others$"
fi

# ---- what fires ----

# Calls and values are those of the same functions by their names; frames fold
# into functions.
cat >"$tmp/d" <<'EOD'
pid$target:a.out:$1:entry { @calls["negative"] = count(); @a = sum((int)arg0); }
pid$target:a.out:$1:return { @r = sum((int)arg1); }
pid$target:a.out:$2:entry { @calls["branches"] = count(); }
pid$target:a.out:$1:entry { @under[ufunc(ucaller)] = count(); }
EOD
for program in whole bare; do
	if [ $program = whole ]; then
		n=negative b=branches
	else
		n=$negative b=$branches
	fi
	sed "s/\$1/$n/; s/\$2/$b/" "$tmp/d" >"$tmp/$program.d"
	dt -q -o "$tmp/$program.seen" -s "$tmp/$program.d" -c "$tmp/$program"
	is "$program: status" "$status" 0
done
sed "s/whole\`branches/bare\`$branches/; s/whole\`main/bare\`$main/" "$tmp/whole.seen" |
    tr -s ' ' >"$tmp/want"
tr -s ' ' <"$tmp/bare.seen" >"$tmp/got"
same "calls" "$tmp/want" "$tmp/got"
has "$tmp/got" "^ bare\`$branches "

# A clause on the functions with a name has nothing of those without.
dt -q -n 'pid$target:a.out::entry { @["named", probefunc] = count(); }
	pid$target:a.out:sub_*:entry { @["not", probefunc] = count(); }' \
    -c "$git version" -o "$tmp/seen"
is "status" "$status" 0
has "$tmp/seen" '^  not +sub_[0-9a-f]+ +[0-9]+$'
hasnt "$tmp/seen" '^  named +sub_'

# Folded stacks, from which flame graphs are made, have functions in them.
dt -q -x stackformat=folded -o "$tmp/folded" -n 'pid$target:a.out:'"$negative"':entry
	{ @[ustack()] = count(); }' -c "$tmp/bare"
grep -o 'bare`[^; ]*' "$tmp/folded" | sort -u >"$tmp/got"
printf 'bare`%s\n' "$negative" "$branches" "$main" |
    sort >"$tmp/want"
comm -23 "$tmp/want" "$tmp/got" >"$tmp/missing"
is "functions missing in the stacks" "$(cat "$tmp/missing")" ""
hasnt "$tmp/got" '`0x'

# ---- what cannot be ----

dt -n 'pid$target:a.out:negative:entry' -c "$tmp/bare"
is "status" "$status" 1
has "$tmp/err" "failed to lookup 'negative' in module 'a.out', which has no symbol table(;|$)"
for func in a.out:neg* :neg* :negative; do
	dt -n 'pid$target:'"$func"':entry' -c "$tmp/bare"
	is "status" "$status" 1
	has "$tmp/err" "does not match any probes: bare has no symbol table(;|$)"
	dt -l -n 'pid$target:'"$func"':entry' -c "$tmp/bare"
	has "$tmp/err" "^dtrap: bare has no symbol table$"
done
dt -n 'pid$target:a.out:nosuch*:entry' -c "$tmp/whole"
hasnt "$tmp/err" 'no symbol table'
finish
