# shellcheck shell=bash disable=SC2154,SC2034 # e2e/lib.sh assigns and reads them
# Read by the tests of this folder: t/e2e/lib.sh, and what the long runs share.
#
# TORTURE=1 asks for the long form of a test.
. "${0%/*}/../e2e/lib.sh"
torture=${TORTURE:-}

# A pipe in which nothing ever comes: pause SECONDS ends at another moment each
# time, which is all that it is for.
mkfifo "$tmp/never"
exec {never}<>"$tmp/never"
pause() {
	local nothing
	IFS= read -r -t "$1" -u "$never" nothing
}

# random N: 0 to N - 1, in $random; the same row in each run with one SEED.
SEED=${SEED:-1}
RANDOM=$SEED
random() {
	random=$(((RANDOM * 32768 + RANDOM) % $1))
}

now_us() {
	now_us=${EPOCHREALTIME/[.,]/}
}

# children_of PID: those of its first thread, in $children.  (Not by a process
# substitution: when its number comes again, bash 5.2 waits for ever for a process
# that it has waited for.)
children_of() {
	children=()
	read -ra children 2>/dev/null <"/proc/$1/task/$1/children"
}

# let_go PID: nobody traces any of its threads, and none is stopped, but for
# those that its own group-stop holds.
let_go() {
	local f traced stopped
	traced=$(cat "/proc/$1"/task/*/status 2>/dev/null |
	    awk '$1 == "TracerPid:" && $2 != 0' | wc -l)
	stopped=$(cat "/proc/$1"/task/*/status 2>/dev/null |
	    awk '$1 == "State:" && $2 ~ /[tT]/' | wc -l)
	[ "$traced" = 0 ] || wrong "$what: $traced threads are traced"
	[ "$stopped" = 0 ] || wrong "$what: $stopped threads are stopped"
}

# dispositions PID: what is ignored and caught.
dispositions() {
	grep -E '^Sig(Ign|Cgt)' "/proc/$1/status"
}

# under_load NAME PROBES PID...: attach to the processes once a second, with
# PROBES and all system calls and samples, and let them go again when some probe
# has fired, for $seconds, but once at least.  The client works meanwhile,
# "start"ed as `load': it ends when its input does.  The processes are then what
# they were.  $rounds is how often.
under_load() {
	local name=$1 probes=$2 p args=() what=$1
	shift 2
	for p in "$@"; do
		args+=(-p "$p")
		text_of "$p" >"$tmp/text.$p"
		dispositions "$p" >"$tmp/signals.$p"
	done
	rounds=0
	hits=0
	SECONDS=0
	# One that has ended by itself has had an error, which its output tells.
	while kill -0 "${pid[load]}" 2>/dev/null &&
	    { [ $SECONDS -lt "$seconds" ] || [ $rounds = 0 ]; }; do
		what="$name, round $rounds"
		dt -q -Z -x bufsize=1m -x aggsize=1m \
		    -n "$probes,syscall:::entry,profile-97 { @ = count(); hit = 1; }" \
		    -n 'tick-300ms /hit/ { exit(0); }' "${args[@]}"
		is "$what: status of dtrap" "$status" 0
		hasnt "$tmp/err" .
		hits=$((hits + $(awk 'NF == 1 { n += $1 } END { print n + 0 }' "$tmp/out")))
		for p in "$@"; do
			kill -0 "$p" 2>/dev/null || fail "$what: $p is dead"
			let_go "$p"
		done
		rounds=$((rounds + 1))
		[ -z "${VERBOSE:-}" ] || echo "$what: $hits"
		[ "$failures" -lt 5 ] || fail "it goes on like this"
		pause 0.1
	done
	[ "$hits" -gt 0 ] || wrong "$name: no probe fired"
	for p in "$@"; do
		text_kept "$p" >"$tmp/text.now"
		grep -v ' (anonymous) ' "$tmp/text.$p" | sort >"$tmp/text.before"
		same "$name: text of $p" "$tmp/text.before" "$tmp/text.now"
		dispositions "$p" >"$tmp/signals.now"
		same "$name: signals of $p" "$tmp/signals.$p" "$tmp/signals.now"
	done
	close_in load
}

# How long each server is worked on.
seconds=${SECONDS_EACH:-${torture:+60}}
seconds=${seconds:-3}
