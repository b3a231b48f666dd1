#!/bin/bash
# -x evaltime: where a launched program is when its probes are looked for.
. "${0%/*}/lib.sh"

# fires WHEN ARGS: what fires in early.
fires() {
	local when=$1
	shift
	# shellcheck disable=SC2016
	dt -q -o "$tmp/trace.$when" -x evaltime="$when" \
	    -n 'pid$target:a.out:early:entry,pid$target:a.out:work:entry
	    { printf("%s ", probefunc); }' -c "$bin/early $*"
	is "$when $*: status" "$status" 0
	fired=$(tr -d '\n' <"$tmp/trace.$when")
	rm -f "$tmp/trace.$when"
}

for when in exec preinit postinit main; do
	case $when in
	exec | preinit) want='early work ' ;;
	# The program's own constructors run after its entry point.
	postinit) want='early work ' ;;
	main) want='work ' ;;
	esac
	fires $when
	is "$when" "$fired" "$want"
	has "$tmp/out" '^plain 3$'
done

# Executed again before it is where it is awaited: awaited anew.
for when in postinit main; do
	fires $when exec
	has "$tmp/out" '^again 3$'
	case $when in
	postinit) is "$when exec" "$fired" 'early early work ' ;;
	main) is "$when exec" "$fired" 'work ' ;;
	esac
done
finish
