#!/bin/bash
# Processes that may not be traced: each is refused by name, with its reason,
# and lives on.
. "${0%/*}/lib.sh"

# refused REGEX NAME
refused() {
	dt -n 'BEGIN { exit(0); }' -p "${pid[$2]}"
	is "$2: status" "$status" 1
	is "$2: messages" "$(grep -c '^dtrap: ' "$tmp/err")" 1
	grep -qE "^dtrap: .*${pid[$2]}.*($1)" "$tmp/err" || {
		wrong "$2: expected pid ${pid[$2]} and '$1' in:"
		cat "$tmp/err"
	}
	alive "$2"
}

# Traced by another already.
start traced "$bin/guarded" traced
line traced ready
held=${line#ready }
dt -n 'BEGIN { exit(0); }' -p "$held"
is "traced: status" "$status" 1
has "$tmp/err" "^dtrap: .*$held.*traced"
close_in traced
end traced

# Of another word size.
if "$bin/m32" </dev/null >/dev/null 2>&1; then
	start m32 "$bin/m32"
	line m32 ready
	refused '32-bit' m32
	close_in m32
	end m32
	is "m32: status" "$status" 0
	dt -n 'BEGIN { exit(0); }' -c "$bin/m32"
	is "m32 launched: status" "$status" 1
	has "$tmp/err" '^dtrap: .*32-bit'
else
	echo "no 32-bit programs here"
fi

# A thread is not a process: refused, or taken for its process.  Ourselves:
# refused.
dt -n 'BEGIN { exit(0); }' -p 0
is "pid 0: status" "$status" 1
has "$tmp/err" '^dtrap: '

# A zombie.
start zombie "$bin/zombie"
line zombie '^zombie '
dt -n 'BEGIN { exit(0); }' -p "${line#zombie }"
is "zombie: status" "$status" 1
has "$tmp/err" '^dtrap: '

# As another user: root's process, and one that is not dumpable.
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
	echo "not root: other users' processes not tried"
elif ! "${nobody[@]}" test -x "$DTRAP" -a -x "$bin/guarded"; then
	echo "another user cannot run $DTRAP: not tried"
else
	start root "$bin/guarded" ready
	line root ready
	start nodump "${nobody[@]}" "$bin/guarded" nodump
	line nodump ready
	for name in root nodump; do
		timeout 60 "${nobody[@]}" "$DTRAP" -n 'BEGIN { exit(0); }' \
		    -p "${pid[$name]}" >"$tmp/out" 2>"$tmp/err" </dev/null
		is "$name: status" "$?" 1
		is "$name: messages" "$(grep -c '^dtrap: ' "$tmp/err")" 1
		has "$tmp/err" "^dtrap: .*${pid[$name]}"
		case $name in
		root) has "$tmp/err" 'user|owner|uid' ;;
		nodump) has "$tmp/err" 'dumpable' ;;
		esac
		alive $name
	done
	close_in root
	close_in nodump
	end root
	end nodump
fi
finish
