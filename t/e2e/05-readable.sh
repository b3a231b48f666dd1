#!/bin/bash
# Names of C++ as the source has them: in descriptions, in quotes and without, in
# lists, in probefunc and under -F.
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
{
# functions FIELD: those that it means, a line each.
functions() {
	dt -l "${opts[@]}" -n 'pid$target:a.out:'"$1"':entry' -c "$bin/shop"
	sed -En 's/^ *[0-9]+ +pid[0-9]+ +shop +(.*) entry$/\1/p' "$tmp/out" |
	    LC_ALL=C sort
}
opts=()

functions '"shop::*"' >"$tmp/all"
cat >"$tmp/want" <<'END'
shop::(anonymous namespace)::hidden
shop::Base::cost
shop::Base::~Base()
shop::Base::~Base() [deleting]
shop::Box::Box
shop::Box::cost
shop::Box::get
shop::Box::operator*
shop::Box::operator<
shop::Box::operator[]
shop::Box::put(char const*)
shop::Box::put(int)
shop::Box::~Box()
shop::Box::~Box() [deleting]
shop::alone
shop::most<double>
shop::most<int>
END
same "all" "$tmp/want" "$tmp/all"

# Each of them means itself, in quotes, when what is special is escaped; that of
# a destructor all its variants.
while read -r name; do
	[[ $name != *'~'*'()' ]] || continue
	escaped=$(printf '%s' "$name" | sed 's/[][*?\\]/\\&/g')
	is "\"$escaped\"" "$(functions "\"$escaped\"")" "$name"
done <"$tmp/want"
is "by its symbol" "$(functions _ZN4shop5aloneEi)" shop::alone

# As many as the text says.
while IFS='|' read -r field want; do
	is "$field" "$(functions "$field" | tr '\n' '|')" "$want|"
done <<'END'
shop::Box::put|shop::Box::put(char const*)|shop::Box::put(int)
shop::Box::put(int)|shop::Box::put(int)
"shop::Box::put(char const*)"|shop::Box::put(char const*)
shop::Box::put(char const*)|shop::Box::put(char const*)
"shop::Box::get(int, int) const"|shop::Box::get
shop::most<*>|shop::most<double>|shop::most<int>
"int shop::most<int>(int, int)"|shop::most<int>
"shop::most<int>(int, int)"|shop::most<int>
shop::Box::operator<|shop::Box::operator<
"shop::*::operator\**"|shop::Box::operator*
*::cost|shop::Base::cost|shop::Box::cost
"*(anonymous*"|shop::(anonymous namespace)::hidden
shop::Base::~Base|shop::Base::~Base()|shop::Base::~Base() [deleting]
shop::Base::~Base()|shop::Base::~Base()|shop::Base::~Base() [deleting]
END

# By option.
opts=(-x demangle=off)
is "off" "$(functions '"shop::alone"')" _ZN4shop5aloneEi
opts=(-x demangle=full)
is "full" "$(functions shop::alone)" 'shop::alone(int)'
opts=()

# Two descriptions, of which each has a comma in quotes.
dt -q -o "$tmp/trace" -n 'pid$target:a.out:"shop::Box::get(int, int) const":entry,
	pid$target:a.out:shop::Box::put:entry,
	pid$target:a.out:"shop::most<*>":return,
	pid$target::shop::*~Box:entry { @[probefunc] = count(); }
	END { printa("%s %@d\n", @); }' -c "$bin/shop"
is "status" "$status" 0
grep . "$tmp/trace" | LC_ALL=C sort >"$tmp/got"
cat >"$tmp/want" <<'END'
shop::Box::get 1
shop::Box::put(char const*) 1
shop::Box::put(int) 3
shop::Box::~Box() 2
shop::Box::~Box() [deleting] 1
shop::most<double> 2
shop::most<int> 1
END
same "counts" "$tmp/want" "$tmp/got"

# In a script, with the function as an operand.
cat >"$tmp/operand.d" <<'D'
pid$target:a.out:"$1":entry { @[probefunc] = count(); }
END { printa("%s %@d\n", @); }
D
rm "$tmp/trace"
dt -q -o "$tmp/trace" -c "$bin/shop" -s "$tmp/operand.d" 'shop::Box::put(int)'
is "operand" "$(grep . "$tmp/trace")" 'shop::Box::put(int) 3'

dt -F -o "$tmp/flow" -n 'pid$target:a.out:"shop::alone":entry,
	pid$target:a.out:"shop::alone":return,pid$target:a.out:"*hidden":entry,
	pid$target:a.out:*hidden:return {}' -c "$bin/shop"
is "flow" "$(grep -oE '(->|<-) .*[^ ]' "$tmp/flow" | head -n 4 | tr '\n' ';')" \
    '-> shop::alone;-> shop::(anonymous namespace)::hidden;<- shop::(anonymous namespace)::hidden;<- shop::alone;'

# A script of ours that takes patterns.
dt -q -s scripts/functime.d -c "$bin/shop" a.out 'shop::Box::put*'
is "script" "$(awk '/put/ { print $1, $(NF - 2) }' "$tmp/out" | sort | tr '\n' ';')" \
    'shop::Box::put(char 1;shop::Box::put(int) 3;'

# What is none.
dt -x errtags -n 'pid$target:a.out:shop::none:entry {}' -c "$bin/shop"
has "$tmp/err" "\\[D_PROC_FUNC\\].*failed to lookup 'shop::none' in module"
dt -x errtags -n 'pid$target:shop::alone:entry {}' -c "$bin/shop"
has "$tmp/err" '\[D_PDESC_INVAL\].*Overspecified.*provider:module:"a::b":name'
dt -x errtags -n 'shop::alone:entry {}' -c "$bin/shop"
has "$tmp/err" '\[D_PDESC_ZERO\].*shop::"alone":entry or ::"shop::alone":entry'
}
finish
