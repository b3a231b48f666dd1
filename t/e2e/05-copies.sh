#!/bin/bash
# Names with dots: what a compiler calls the copies of a function that it makes
# (shared.constprop.0), and what it calls others (split.part.0).
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
{
# functions FIELD: those that it means.
functions() {
	dt -l -n 'pid$target:a.out:'"$1"':entry' -c "$bin/clones"
	awk '$2 ~ /^pid[0-9]/ { print $4 }' "$tmp/out" | LC_ALL=C sort |
	    tr '\n' ' '
}

is "a copy that is alone" "$(functions lonely)" "lonely "
is "... by its own name" "$(functions lonely.constprop.0.isra.1)" "lonely "
is "... by a glob of it" "$(functions 'lonely*const*')" "lonely "
is "... by a glob" "$(functions 'lon*y')" "lonely "
is "a function and its copy" "$(functions shared)" "shared shared.constprop.0 "
is "... the copy" "$(functions shared.constprop.0)" "shared.constprop.0 "
is "... by a glob" "$(functions 'shared*')" "shared shared.constprop.0 "
is "a part" "$(functions shared.cold)" "shared.cold "
is "two copies" "$(functions twin)" "twin.isra.0 twin.lto_priv.1 "
is "a function of its own" "$(functions 'split*')" "split.part.0 "
is "... by name" "$(functions split.part.0)" "split.part.0 "
is "link-time optimisation" "$(functions imported)" "imported "
is "another name" "$(functions 'dotted?name')" "dotted.name "
functions split >"$tmp/split"
is "... not by another's" "$(cat "$tmp/split")" ""
has "$tmp/err" 'failed to match pid[0-9]*:a.out:split:entry'

# All that nm calls a function, but for the parts and what starts a program.
nm "$bin/clones" | awk '$2 ~ /^[Tt]$/ { print $3 }' |
    grep -vxE '_init|_fini|shared.cold' |
    sed -E 's/^(lonely|imported)\..*/\1/' | LC_ALL=C sort >"$tmp/nm"
functions '' | tr ' ' '\n' | grep . >"$tmp/all"
same "all functions" "$tmp/nm" "$tmp/all"

# Both by one name, each counted by its own.
dt -q -o "$tmp/trace" -n 'pid$target:a.out:shared:entry,
	pid$target:a.out:lonely:entry { @[probefunc] = count(); @all = count(); }
	pid$target:a.out:shared.*:return { @sum[probefunc] = sum(arg1); }' \
    -c "$bin/clones"
is "status" "$status" 0
has "$tmp/trace" '^ *lonely  *1$'
has "$tmp/trace" '^ *shared  *1$'
has "$tmp/trace" '^ *shared.constprop.0  *2$'
has "$tmp/trace" '^ *4$'
has "$tmp/trace" '^ *shared.constprop.0  *6$'

dt -F -o "$tmp/flow" -n 'pid$target:a.out:lonely: {}' -c "$bin/clones"
has "$tmp/flow" '-> lonely'
has "$tmp/flow" '<- lonely'
}
finish
