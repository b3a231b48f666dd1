# shellcheck shell=bash
# Read by every end-to-end test.
#
# A test is a bash script that passes by reaching its end, fails by `fail', and
# is skipped by `skip'.  It works in "$tmp", which goes away with everything
# that `start' started.  Nothing waits by sleeping: a test waits for a line, or
# for the end of a process.

set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
B=${B:-build}
DTRAP=${DTRAP:-$PWD/dtrap}
PLOCKSTAT=${PLOCKSTAT:-$PWD/plockstat}
bin=$PWD/$B/e2e
export LC_ALL=C TZ=UTC
unset "${!DTRACE_OPT_@}" "${!DTRAP_@}" "${!DEBUGINFOD_@}" 2>/dev/null

tmp=$(mktemp -d "${TMPDIR:-/tmp}/dtrap-e2e.XXXXXX") || exit 2
declare -A pid=() in=() out=()
failures=0

# shellcheck disable=SC2317 # called by the trap
cleanup() {
	local status=$? name
	trap - EXIT
	for name in "${!pid[@]}"; do
		kill -KILL "${pid[$name]}" 2>/dev/null
	done
	rm -rf "$tmp"
	exit $status
}
trap cleanup EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

fail() {
	echo "FAIL: $*"
	for f in "$tmp"/err "$tmp"/*.err; do
		[ -s "$f" ] && { echo "--- ${f##*/}:"; tail -n 20 "$f"; }
	done
	exit 1
}

# wrong TEXT: note a failure and go on; `finish' then fails.
wrong() {
	echo "WRONG: $*"
	failures=$((failures + 1))
}

finish() {
	[ "$failures" = 0 ] || fail "$failures checks"
	exit 0
}

skip() {
	echo "$*"
	exit 77
}

need() {
	local c
	for c in "$@"; do
		command -v "$c" >/dev/null || skip "$c is not installed"
	done
}

# go_offline CACHE: go fetches nothing; what it compiles is kept there.
go_offline() {
	export GOCACHE=$1 GOPATH=$tmp/gopath
	export GOPROXY=off GOFLAGS=-mod=mod GO111MODULE=on
}

# A module of that name, still empty, in $tmp/go.
go_module() {
	go_offline "$tmp/gocache"
	mkdir "$tmp/go"
	echo "module $1" >"$tmp/go/go.mod"
}

# Was dtrap built with this (CTF)?
built_with() {
	"$DTRAP" -V -v | grep -q "without.* $1" || return 0
	return 1
}

# each_sampling: the test is run once for each way in which profile-N samples.
each_sampling() {
	local way
	if [ -n "${SAMPLING:-}" ]; then
		export DTRACE_OPT_SAMPLING=$SAMPLING
		return
	fi
	for way in auto user stops; do
		echo "sampling: $way"
		SAMPLING=$way bash "$0" || exit
	done
	exit 0
}

# perf_users: in $users, as whom dtrap can be tried that needs records of the kernel:
# self, and nobody if that user may have them (Debian's kernels forbid it).  False, with
# the reason in "$tmp/err", where nobody at all may.  "${as[@]}" runs dtrap after
# `as_user USER'.
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
# shellcheck disable=SC2034 # tests read $users
perf_users() {
	local may='sched:::on-cpu { exit(0); }'
	users=self
	dt -q -n "$may" -c true
	if grep -q 'do not fire: ' "$tmp/err"; then
		has "$tmp/err" 'sched do not fire: .+'
		users=
		return 1
	fi
	[ "$(id -u)" = 0 ] && "${nobody[@]}" test -x "$DTRAP" 2>/dev/null ||
		return 0
	(apart "${nobody[@]}" timeout 60 "$DTRAP" -q -n "$may" -c true) \
	    </dev/null >"$tmp/out" 2>"$tmp/err"
	if grep -q 'perf_event_paranoid' "$tmp/err"; then
		echo "nobody: $(cat "$tmp/err")"
	else
		users='self nobody'
	fi
}

# shellcheck disable=SC2034 # and ${as[@]}
as_user() {
	as=("$DTRAP")
	[ "$1" != nobody ] || as=("${nobody[@]}" "$DTRAP")
}

# Attaching to what is not our child: the Yama module may forbid it.  The
# triggers allow it for themselves; other programs cannot.
need_attach() {
	local scope=0
	[ -r /proc/sys/kernel/yama/ptrace_scope ] &&
	    read -r scope </proc/sys/kernel/yama/ptrace_scope
	[ "$scope" = 0 ] || [ "$(id -u)" = 0 ] ||
	    skip "kernel.yama.ptrace_scope is $scope"
}

# The words as one string that -c takes apart again.
quote() {
	local a
	for a in "$@"; do
		printf "'%s' " "${a//\'/\'\\\'\'}"
	done
}

# Run a command without the pipes that lead to others: a test that closes one
# wants its end to be seen.
apart() {
	local fd
	for fd in "${in[@]}" "${out[@]}"; do
		exec {fd}>&-
	done
	exec "$@"
}

# dt ARGS...: run dtrap to its end; $status, "$tmp/out" and "$tmp/err" tell.
dt() {
	(apart timeout -k 5 "${LIMIT:-60}" "$DTRAP" "$@") \
	    >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	[ $status != 124 ] || fail "dtrap $* did not end"
}

# is WHAT GOT EXPECTED
is() {
	[ "$2" = "$3" ] || wrong "$1 is '$2', expected '$3'"
}

# same WHAT FILE FILE
same() {
	cmp -s "$2" "$3" && return
	wrong "$1 differ:"
	diff "$2" "$3" | head -n 20
}

# has FILE REGEX: some line does.
has() {
	grep -qE -e "$2" "$1" && return
	wrong "no line like '$2' in ${1##*/}:"
	head -n 20 "$1"
}

hasnt() {
	grep -qE -e "$2" "$1" || return 0
	wrong "a line like '$2' in ${1##*/}:"
	grep -E -e "$2" "$1" | head -n 5
}

# start NAME COMMAND...: run it beside us.  `tell NAME TEXT' writes a line to
# its input, `close_in NAME' ends that; `line NAME [REGEX]' reads its output up
# to a line like REGEX, which is left in $line; everything read is kept in
# "$tmp/NAME.out", its errors in "$tmp/NAME.err".
start() {
	local name=$1 i o
	shift
	rm -f "$tmp/$name.i" "$tmp/$name.o"
	mkfifo "$tmp/$name.i" "$tmp/$name.o"
	: >"$tmp/$name.out"
	(apart "$@") <"$tmp/$name.i" >"$tmp/$name.o" 2>"$tmp/$name.err" &
	pid[$name]=$!
	exec {i}>"$tmp/$name.i" {o}<"$tmp/$name.o"
	in[$name]=$i
	out[$name]=$o
}

# The same without an input of ours.
start_null() {
	local name=$1 o
	shift
	rm -f "$tmp/$name.o"
	mkfifo "$tmp/$name.o"
	: >"$tmp/$name.out"
	(apart "$@") </dev/null >"$tmp/$name.o" 2>"$tmp/$name.err" &
	pid[$name]=$!
	exec {o}<"$tmp/$name.o"
	out[$name]=$o
}

tell() {
	echo "$2" >&"${in[$1]}"
}

close_in() {
	local fd=${in[$1]}
	exec {fd}>&-
	unset "in[$1]"
}

line() {
	local name=$1 regex=${2:-.}
	while IFS= read -r -t "${LIMIT:-60}" -u "${out[$name]}" line; do
		printf '%s\n' "$line" >>"$tmp/$name.out"
		[[ $line =~ $regex ]] && return 0
	done
	fail "$name never wrote a line like '$regex'; it wrote: $(tail -n 5 "$tmp/$name.out")"
}

# end NAME: read the rest of its output, wait; its status is in $status.
end() {
	local name=$1 fd
	if [ -n "${out[$name]:-}" ]; then
		fd=${out[$name]}
		timeout "${LIMIT:-60}" cat <&"$fd" >>"$tmp/$name.out" ||
		    fail "$name did not end"
		exec {fd}<&-
		unset "out[$name]"
	fi
	wait "${pid[$name]}"
	status=$?
	unset "pid[$name]"
}

alive() {
	kill -0 "${pid[$1]}" 2>/dev/null || fail "$1 is dead"
	[ "$(state "${pid[$1]}")" != Z ] || fail "$1 is a zombie"
}

# The state letter of a process.
state() {
	sed -n 's/^State:[^A-Za-z]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null
}

# The tracer of a process, 0 if none.
tracer() {
	sed -n 's/^TracerPid:[^0-9]*//p' "/proc/$1/status"
}

# The guardian of a dtrap.
guardian_of() {
	local child
	while read -r child; do
		[ "$(cat "/proc/$child/comm")" = dtrap-guardian ] || continue
		echo "$child"
		return
	done < <(cat "/proc/$1/task/"*/children | tr ' ' '\n')
	fail "dtrap $1 has no guardian"
}

# Begin dtrap beside us, with a BEGIN clause that says "armed" when every probe
# is in place; waits for that.
start_dt() {
	local name=$1
	shift
	start_null "$name" "$DTRAP" -x switchrate=5ms \
	    -n 'BEGIN { printf("armed\n"); }' "$@"
	line "$name" '^.*armed$'
}

# split_errors: of $tmp/both.err, the lines of dtrap and those of the traced program.
split_errors() {
	grep -v '^dtrap: ' "$tmp/both.err" >"$tmp/traced.err"
	grep '^dtrap: ' "$tmp/both.err" >"$tmp/dtrap.err"
}

# same_as_plain WHAT: the output and the errors traced and untraced, after FILTER, a
# sed -E script.
same_as_plain() {
	if [ -n "${FILTER:-}" ]; then
		sed -i -E "$FILTER" "$tmp"/{plain,traced}.{out,err}
	fi
	same "$1: output traced and untraced" "$tmp/plain.out" "$tmp/traced.out"
	same "$1: errors traced and untraced" "$tmp/plain.err" "$tmp/traced.err"
}

# Run a command plain and with all of DESCRIPTION counted: what it writes and
# how it ends must not differ.  $hits says how often a probe fired.  Standard
# input is FROM (default /dev/null), for both.
same_traced() {
	local what=$1 plain traced
	shift
	"$@" <"${FROM:-/dev/null}" >"$tmp/plain.out" 2>"$tmp/plain.err"
	plain=$?
	rm -f "$tmp/trace"
	# -Z: stripped programs have no functions, and libraries may come late.
	# shellcheck disable=SC2086 # OPTS are words
	timeout -k 5 "${LIMIT:-100}" "$DTRAP" -Z ${OPTS:-} -o "$tmp/trace" \
	    -n "$what { @hits = count(); }" -c "$(quote "$@")" \
	    <"${FROM:-/dev/null}" >"$tmp/traced.out" 2>"$tmp/both.err"
	status=$?
	[ $status != 124 ] || fail "$*: did not end when traced"
	split_errors
	is "$*: status of dtrap" "$status" 0
	traced=$(ended "$tmp/dtrap.err")
	is "$*: status" "$traced" "$plain"
	same_as_plain "$*"
	hasnt "$tmp/dtrap.err" 'drop|error|internal'
	hits=$(awk 'NF == 1 { print $1 }' "$tmp/trace" 2>/dev/null | tail -n 1)
	hits=${hits:-0}
	[ "$hits" -gt 0 ] || wrong "$*: no probe fired"
	echo "$* : $hits hits"
}

# How the target ended, from dtrap's line: as $? would say.
ended() {
	sed -n -e 's/^dtrap: pid [0-9]* has exited$/0/p' \
	    -e 's/^dtrap: pid [0-9]* exited with status \([0-9]*\)$/\1/p' \
	    -e 's/^dtrap: pid [0-9]* terminated by \(SIG[A-Z0-9+]*\)$/\1/p' "$1" |
	    tail -n 1 | while read -r s; do
		case $s in
		SIG*) echo $((128 + $(kill -l "${s#SIG}"))) ;;
		*) echo "$s" ;;
		esac
	done
}

# The executable bytes of a process, as they are.
text_of() {
	"$bin/textsum" "$1" || fail "cannot read the text of $1"
}

# The same without what stays of dtrap when it has ended in a hurry: some thread may
# be there.
text_kept() {
	text_of "$1" | grep -v -e ' (anonymous) ' -e ' /memfd:dtrap-lanes ' | sort
}

# A pattern that only this number matches: what is found by it is searched for,
# and other people's processes are left alone.
pattern_of() {
	printf '[%s]%s' "${1:0:1}" "${1:1}"
}

# Does FILE carry the static probe NAME, as notes spell it?  (To its end: a
# readelf that nobody reads any more would fail.)
carries() {
	readelf -n "$1" 2>/dev/null | grep -E "Name: $2\$" >/dev/null
}

# raised PID FILE PROVIDER: how many semaphores of the provider's probes are
# not 0 in the memory of the process.
raised() {
	local bias=0 file
	file=$(readlink -f "$2")
	if ! readelf -h "$file" | grep -q 'EXEC (Exec'; then
		bias=$(awk -v f="$file" '$6 == f && $3 ~ /^0+$/ {
			sub("-.*", "", $1); print $1; exit }' "/proc/$1/maps")
		[ -n "$bias" ] || fail "$1 has not mapped $file"
	fi
	readelf -n "$file" 2>/dev/null | awk -v p="$3" '
	    $1 == "Provider:" { prov = $2 }
	    $5 == "Semaphore:" && prov == p && $6 !~ /^0x0+$/ { print $6 }' |
	    sort -u | perl -e '
		open(my $m, "<", "/proc/$ARGV[0]/mem") or die "mem: $!";
		binmode($m);
		while (<STDIN>) {
			sysseek($m, hex($_) + hex($ARGV[1]), 0);
			sysread($m, my $b, 2) == 2 or die "read: $!";
			$n++ if unpack("S", $b);
		}
		print $n + 0, "\n";' "$1" "$bias"
}

# in_two PROVIDER FILE CLAUSE TEXT WANT: FILE's probe of CLAUSE, "name
# /predicate/", fires once in `one' and in `two' when they are told something,
# upon which they answer "done"; TEXT, an expression in D, is then WANT.  Both
# are traced: by -p and a pattern, by -p and the numbers, and found without -p,
# by patterns that mean nobody else's processes.
in_two() {
	local prov=$1 file=$2 clause=$3 text=$4 want=$5 how p q d named
	for how in pattern numbers found; do
		named=(-p "${pid[one]}" -p "${pid[two]}")
		p=$prov${pid[one]} q=$prov${pid[two]}
		case $how in
		pattern) p=$prov'*' q= ;;
		found)
			named=()
			p=$prov$(pattern_of "${pid[one]}")
			q=$prov$(pattern_of "${pid[two]}")
			;;
		esac
		d="$p:::${clause%% *}${q:+,$q:::${clause%% *}} ${clause#* }"
		start_dt dt -q "${named[@]}" \
		    -n "$d { printf(\"+ %s %s\n\", probeprov, $text); }"
		for p in one two one; do
			tell $p "$how"
			line $p "done $how"
		done
		kill -INT "${pid[dt]}"
		end dt
		is "$how: status" "$status" 0
		for p in one two one; do
			echo "+ $prov${pid[$p]} $want"
		done >"$tmp/want"
		grep '^+' "$tmp/dt.out" >"$tmp/seen"
		same "$how" "$tmp/want" "$tmp/seen"
		for p in one two; do
			is "$how: raised" "$(raised "${pid[$p]}" "$file" "$prov")" 0
			is "$how: tracer" "$(tracer "${pid[$p]}")" 0
		done
	done
}

# end_two: they live, untraced, and end with their input.
end_two() {
	local p
	for p in one two; do
		tell $p last
		line $p 'done last'
		close_in $p
		end $p
		is "$p: status" "$status" 0
	done
}
