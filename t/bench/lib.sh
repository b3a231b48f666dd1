# shellcheck shell=bash
# Read by every benchmark.
#
# Nothing is asserted: the numbers are for people.  What counts is the ratio of
# two rows of one table, measured in one run; each value is the best of $RUNS.
# A peer that is not installed is named, and its rows are left out.

set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
B=${B:-build}
DTRAP=${DTRAP:-$PWD/dtrap}
RUNS=${RUNS:-3}
hot=$PWD/$B/e2e/hot
[ -x "$hot" ] || { echo "bench: $hot is missing: run 'make bench'" >&2; exit 1; }
tmp=$(mktemp -d) || exit 1
beside= # a process to be attached to
# shellcheck disable=SC2317 # called by the trap
cleanup() {
	[ -z "$beside" ] || kill "$beside" 2>/dev/null
	rm -rf "$tmp"
}
trap cleanup EXIT

# have PEER [root]: is it there, and may we?  If not, that is said, once in a
# table.
have() {
	local why=
	command -v "$1" >/dev/null || why="not installed"
	[ -n "$why" ] || [ "${2:-}" != root ] || [ "$(id -u)" = 0 ] ||
	    why="needs root"
	[ -n "$why" ] || return 0
	echo "$1: $why, skipped"
	return 1
}

# per_call COMMAND...: what `hot' says of itself: ns for one, best of $RUNS.
per_call() {
	local i
	for ((i = 0; i < RUNS; i++)); do
		timeout 120 "$@" </dev/null 2>"$tmp/err" |
		    sed -n 's/.*\(^\|[^0-9.]\)\([0-9.]*\) ns per call.*/\2/p'
	done | sort -n | head -n 1
}

# took COMMAND...: ms from its start to its end, best of ten.
took() {
	local i from to
	for ((i = 0; i < 10; i++)); do
		from=$(date +%s%N)
		timeout 120 "$@" >"$tmp/out" 2>&1 </dev/null || return
		to=$(date +%s%N)
		echo $(((to - from) / 10000))
	done | sort -n | head -n 1 | awk '{ printf "%.1f", $1 / 100 }'
}

# table TITLE COLUMN...: begin one.  `base VALUE...' says what the untraced
# program takes, column by column; that is taken from each row.
table() {
	echo
	printf '%-32s' "$1"
	shift
	printf '%12s        ' "$@"
	echo
	first=()
	bases=()
}

base() {
	bases=("$@")
	printf '  %-30s' untraced
	printf '%12s        ' "$@"
	echo
}

# row NAME VALUE...: what tracing costs besides, and how often that holds the
# cost in the first row of the table.  No value: it did not work.
row() {
	local i=0 name=$1 v
	shift
	printf '  %-30s' "$name"
	for v in "$@"; do
		if [ -n "$v" ]; then
			v=$(awk -v v="$v" -v b="${bases[i]:-0}" \
			    'BEGIN {
				v = v > b ? v - b : 0 # less is noise
				printf v < 100 ? "%.1f" : "%.0f", v }')
			: "${first[i]:=$v}"
			awk -v v="$v" -v f="${first[i]}" 'BEGIN {
				printf "%12s %6.2fx", v, f == 0 ? 0 : v / f }'
		else
			printf '%12s %7s' - ''
		fi
		i=$((i + 1))
	done
	echo
}
