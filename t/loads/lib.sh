# shellcheck shell=bash disable=SC2154,SC2034 # e2e/lib.sh assigns and reads them
# Read by the scripts of this folder: real programs with every function's entry and
# return traced by jump, beside the same untraced.
#
# Each script says what it runs and what the results are; this file traces, and
# appends a row to $ROWS:
#
#	NAME	ACTION	ENTRIES	RETURNS	HITS	HITS_BY_JUMP	TIME	RESULT
#
# ENTRIES and RETURNS are the places of entry and return probes that have a jump, in
# per cent of all, as -l -v says; HITS_BY_JUMP is of all hits; TIME is that of the
# traced run as a multiple of that of the untraced one.  RESULT is "as untraced", or
# how many checks found a difference; the script then fails.
#
# ACTIONS chooses among count, quantize and record.
. "${0%/*}/../e2e/lib.sh"
ROWS=${ROWS:-$B/workloads}
LIMIT=${LIMIT:-1200}
read -ra actions <<<"${ACTIONS:-count}"

declare -A action=(
	[count]='@[probefunc] = count();'
	[quantize]='@[probefunc] = quantize(arg0);'
	[record]='trace(arg0);'
)
opts=(-Z -v -x fastpath=on -x strsize=64 -x aggsize=256m -x bufsize=64m)

now_ms() {
	now_ms=$((${EPOCHREALTIME/[.,]/} / 1000))
}

# probes_of PID...: all functions of the processes; of one, also those of its
# children.
probes_of() {
	local p
	probes=
	# shellcheck disable=SC2016
	[ $# -gt 1 ] || set -- '$target' # dtrap's
	for p in "$@"; do
		probes+=${probes:+,}pid$p:::entry,pid$p:::return
	done
}

# places TARGET...: how many places of all functions have a jump, in
# $entries and $returns, as per cent.
places() {
	"$DTRAP" "${opts[@]}" -l -n "$probes { @[probefunc] = count(); }" "$@" \
	    </dev/null >"$tmp/list" 2>"$tmp/list.err" || fail "no list: $*"
	read -r entries returns < <(awk '
	    $2 ~ /^pid[0-9]/ { name = $NF }
	    /^\t\t[0-9]+ by (jump|trap)/ {
		all[name] += $1
		if ($3 == "jump")
			jump[name] += $1
	    }
	    END {
		printf("%.1f %.1f\n", 100 * jump["entry"] / (all["entry"] + 1e-9),
		    100 * jump["return"] / (all["return"] + 1e-9))
	    }' "$tmp/list")
}

# Seconds of processor time would hide what waits for the tracer: wall clock.
plain_ms=0 traced_ms=0
# The differences before this row.
earlier=0

# row NAME ACTION ERRORS: what dtrap's -v says in that file.
row() {
	local hits part
	cp "$3" "${ROWS}.$1.$2.err"
	read -r hits part < <(awk '
	    / hits by jump, / {
		printf("%d %.2f\n", $2 + $6, 100 * $2 / ($2 + $6 + 1e-9)) }' "$3")
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$entries" "$returns" \
	    "${hits:-0}" "${part:-0}" \
	    "$(awk -v a="$traced_ms" -v b="$plain_ms" \
	    'BEGIN { printf("%.1f", a / (b + 1e-9)) }')" \
	    "$([ "$failures" = "$earlier" ] && echo 'as untraced' ||
	    echo "$((failures - earlier)) differ")" |
	    tee -a "$ROWS"
	[ "${hits:-0}" -gt 0 ] || wrong "$1: no hit"
}

# Of dtrap's messages, what is no figure: hits that were lost.
quiet() {
	grep '^dtrap: ' "$1" | grep -E 'drop|error|internal|assert' |
	    grep -vE ' drops on |record drop' >"$tmp/loud"
	hasnt "$tmp/loud" .
}

# command_load NAME COMMAND...: run it untraced, and with each action; what it writes
# and how it ends must be the same, after FILTER, a sed -E script.
command_load() {
	local name=$1 a plain traced
	shift
	now_ms
	plain_ms=$now_ms
	# Its errors go to a file: a message of dtrap's could stand within a line.
	# shellcheck disable=SC2016
	set -- sh -c 'f=$0; exec "$@" 2>"$f"' "$tmp/its.err" "$@"
	timeout "$LIMIT" "$@" </dev/null >"$tmp/plain.out"
	plain=$?
	now_ms
	plain_ms=$((now_ms - plain_ms))
	mv "$tmp/its.err" "$tmp/plain.err"
	probes_of
	places -c "$(quote "$@")"
	for a in "${actions[@]}"; do
		earlier=$failures
		now_ms
		traced_ms=$now_ms
		timeout -k 5 "$LIMIT" "$DTRAP" "${opts[@]}" -o "$tmp/trace" \
		    -n "$probes { ${action[$a]} }" -c "$(quote "$@")" \
		    </dev/null >"$tmp/traced.out" 2>"$tmp/dtrap.err"
		status=$?
		now_ms
		traced_ms=$((now_ms - traced_ms))
		mv "$tmp/its.err" "$tmp/traced.err"
		if [ $status = 124 ]; then
			wrong "$name, $a: did not end"
		else
			is "$name, $a: status of dtrap" "$status" 0
			traced=$(ended "$tmp/dtrap.err")
			is "$name, $a: status" "$traced" "$plain"
		fi
		same_as_plain "$name, $a"
		quiet "$tmp/dtrap.err"
		row "$name" "$a" "$tmp/dtrap.err"
		rm -f "$tmp/trace"
	done
}

# server_load NAME PID...: traces the server while the function `client' works with
# it, whose output must be that of before; its processes are PIDs.
server_load() {
	local name=$1 a p targets=()
	shift
	for p in "$@"; do
		targets+=(-p "$p")
	done
	now_ms
	plain_ms=$now_ms
	client >"$tmp/plain.out" 2>"$tmp/plain.err"
	now_ms
	plain_ms=$((now_ms - plain_ms))
	probes_of "$@"
	places "${targets[@]}"
	for a in "${actions[@]}"; do
		earlier=$failures
		start_dt dt "${opts[@]}" -n "$probes { ${action[$a]} }" \
		    "${targets[@]}"
		# What it prints is no result, but has to be read.
		cat <&"${out[dt]}" >/dev/null &
		now_ms
		traced_ms=$now_ms
		client >"$tmp/traced.out" 2>"$tmp/traced.err"
		now_ms
		traced_ms=$((now_ms - traced_ms))
		for p in "$@"; do
			[ -d "/proc/$p" ] || wrong "$name, $a: $p is dead"
		done
		kill -INT "${pid[dt]}"
		end dt
		is "$name, $a: status of dtrap" "$status" 0
		same_as_plain "$name, $a"
		quiet "$tmp/dt.err"
		row "$name" "$a" "$tmp/dt.err"
	done
}
