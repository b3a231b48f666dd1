#!/bin/bash
# A name may lead elsewhere in the target's mounts than in ours: names come of
# the file that is mapped, as root and as an ordinary user.
. "${0%/*}/lib.sh"
need_attach
need unshare mount

chmod 755 "$tmp"
mkdir "$tmp/ours" "$tmp/theirs"
cp "$bin/odd" "$tmp/ours/prog"
cp "$bin/hotcool" "$tmp/theirs/prog"
chmod 755 "$tmp"/*/prog "$tmp"/{ours,theirs}

# look WHAT COMMAND...: as that user, with a namespace made by him.
look() {
	local what=$1
	shift
	if ! "$@" unshare -Urm mount --bind "$tmp/theirs" "$tmp/ours" \
	    2>"$tmp/err"; then
		echo "$what: $(tail -n 1 "$tmp/err")"
		return
	fi
	# shellcheck disable=SC2016 # $1 and $2 are the inner shell's
	start t "$@" unshare -Urm bash -c \
	    'mount --bind "$1/theirs" "$1/ours" && exec "$1/ours/prog"' - "$tmp"
	line t ready
	# shellcheck disable=SC2016
	"$@" "$DTRAP" -l -n 'pid$target:a.out::entry' -p "${pid[t]}" \
	    >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$what: status" "$?" 0
	has "$tmp/out" ' prog +cool entry$'
	hasnt "$tmp/out" ' plain entry$'
	alive t
	kill "${pid[t]}"
	end t
	echo "$what: the mapped file's"
}

look "we"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	look "another user" setpriv --reuid 65534 --regid 65534 --clear-groups
fi
finish
