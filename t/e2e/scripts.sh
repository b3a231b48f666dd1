# shellcheck shell=bash
# Read by the tests of scripts/, after lib.sh.

# shellcheck disable=SC2154 # lib.sh's
mkdir "$tmp/path"
ln -s "$DTRAP" "$tmp/path/dtrap"
PATH=$tmp/path:$PATH
export DTRAP

# script NAME ARGS...: run it to its end; $status, "$tmp/out" and "$tmp/err".
script() {
	(apart timeout -k 5 "${LIMIT:-60}" "scripts/$1" "${@:2}") \
	    >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	[ $status != 124 ] || fail "$* did not end"
	[ $status = 0 ] || wrong "$1: status $status"
}

# The output with runs of blanks as one, none at the ends, no empty lines, and
# "$tmp" as TMP.
plain() {
	sed "s|$tmp|TMP|g; s/[[:blank:]]\\+/ /g; s/^ //; s/ \$//; /^\$/d" \
	    "$tmp/out"
}

# expect WHAT: the output, plain, is what stands on our input.
expect() {
	cat >"$tmp/want"
	plain | sed "${2:-}" >"$tmp/got"
	same "$1" "$tmp/want" "$tmp/got"
}
