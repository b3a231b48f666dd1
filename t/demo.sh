#!/bin/sh
# Trace real programs; a line of explanation for each.
set -u
DTRAP=${DTRAP:-./dtrap}
cd "$(dirname "$0")/.." || exit 1

show() {
	echo
	echo "# $1"
	shift
	printf '$ dtrap'
	for a in "$@"; do
		case $a in
		-*) printf ' %s' "$a" ;;
		*) printf " '%s'" "$(printf %s "$a" | sed "s/'/'\\\\''/g")" ;;
		esac
	done
	echo
	"$DTRAP" "$@" || { echo "demo: dtrap failed" >&2; exit 1; }
}

# shellcheck disable=SC2016 # $target is D's
{
show 'How large are the blocks that python3 asks malloc for, above 64 bytes?' \
    -n 'pid$target:libc:malloc:entry /arg0 > 64/ { @[probefunc] = quantize(arg0); }' \
    -c 'python3 -c "print(sum(range(1000)))"'
show 'Which functions of libc does ls call most?' \
    -q -n 'pid$target:libc::entry { @[probefunc] = count(); }' \
    -n 'END { trunc(@, 8); }' -c 'ls /usr'
show 'What does sort read, and what does read() give back?' \
    -q -n 'pid$target:libc:read:entry { self->fd = arg0; self->want = arg2; }' \
    -n 'pid$target:libc:read:return { printf("read(%d, ..., %d) = %d\n", self->fd, self->want, arg1); }' \
    -c 'sort /etc/hostname'
}
echo
echo 'More examples are in README.md.'
