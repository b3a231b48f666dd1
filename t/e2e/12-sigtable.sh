#!/bin/bash
# timeout: 21600
# Each of the 64 signals: blocked, ignored, handled, pending, sent by everybody,
# in two threads.  What the program finds of them is as untraced, whatever the
# script, whatever the program does meanwhile, and whenever it is let go.
#
# A turn of sigtable gives each signal another state; in all turns each has had
# every one.  In the short form there are some turns, each with one phase, one
# script and one way to be traced.  With TORTURE every turn has each phase in each
# way, with one script after the other; with TORTURE and ALL, each script: a day.
# TURN, PHASE, SCRIPT and MODE choose one, ONLY="4 11" these signals.
. "${0%/*}/lib.sh"
need_attach

table=$bin/sigtable
mapfile -t phases < <("$table" phases)
turns=$("$table" turns)
# Those that have found differences, and some of the others.
short=(0 13 16 29 30 32 41 48 62 64 71 77 80 85 86 88 96 111 112 123 127 128 130
    131 137 138 139 144 146 149 150 155 160 173 176 185)
modes=(launched to-its-end let-go-after let-go-before again)
scripts=(bare entry instructions library libc syscall one-call proc
    profile-97 profile-997 static locks everything alone)

# script NAME: the arguments for it are in $args.
script() {
	local d='{ @ = count(); }'
	args=(-Z -n 'BEGIN { printf("armed\n"); }' -x switchrate=5ms)
	# shellcheck disable=SC2016 # $target is dtrap's
	case $1 in
	bare) ;;
	entry) args+=(-n 'pid$target:a.out:work:entry'"$d") ;;
	instructions)
		args+=(-n 'pid$target:a.out:work:,pid$target:a.out:note:,
		    pid$target:a.out:on_*:,pid$target:a.out:own_restorer:'"$d")
		;;
	library) args+=(-n 'pid$target:libdlo.so:from_ctor:'"$d") ;;
	libc)
		args+=(-n 'pid$target:libc:*sig*:entry,pid$target:libc:write:,
		    pid$target:libc:*fork*:entry,pid$target:libc:read:return,
		    pid$target:libc:ppoll:'"$d")
		;;
	syscall) args+=(-n "syscall:::$d") ;;
	one-call) args+=(-n "syscall::getppid:entry$d") ;;
	proc) args+=(-n "proc:::$d") ;;
	profile-*) args+=(-n "$1$d") ;;
	static) args+=(-n 'sigtable$target:::here'"$d") ;;
	locks) args+=(-n 'plockstat$target:::'"$d") ;;
	everything)
		args+=(-n 'syscall:::,proc:::,profile-199,sigtable$target:::,
		    plockstat$target:::,pid$target:libdlo.so::entry,
		    pid$target:a.out:work:,pid$target:a.out:on_*:return'"$d")
		;;
	alone)
		args+=(-x follow=none -n 'pid$target:a.out:work:,
		    pid$target:libdlo.so:from_ctor:'"$d")
		;;
	*) fail "no script $1" ;;
	esac
}

# The pid is another in each run.  While there are probes /proc shows SIGTRAP
# as it is to our handler (doc/safety.md): up to the line FILE has been let go
# at its bit is not looked at.
comparable() {
	perl -e '
		my ($until, $on) = (shift, 1);
		while (<>) {
			s/^ready \d+$/ready/;
			if ($on && /^(.* proc Sig(?:Blk|Ign|Cgt):\s*)([0-9a-f]+)$/) {
				$_ = sprintf("%s%016x\n", $1, hex($2) & ~16);
			}
			$on = 0 if /$until/;
			print;
		}' "$2" "$1"
}

# The program's lines are read, and told what it waits for, here.
go_on() {
	tell one go
	line one "$1"
}

let_go() {
	kill -INT "${pid[dt]}"
	end dt
	is "$what: status of dtrap" "$status" 0
}

attach() {
	start_dt dt "${args[@]}" -p "${pid[one]}"
}

# attached MODE
attached() {
	start one "$table" table "$turn" "$phase" "$bin/libdlo.so"
	line one '^ready'
	attach
	case $1 in
	to-its-end)
		go_on '^phased$'
		go_on '^end$'
		end dt
		is "$what: status of dtrap" "$status" 0
		;;
	let-go-after)
		go_on '^phased$'
		let_go
		go_on '^end$'
		;;
	let-go-before)
		let_go
		go_on '^phased$'
		go_on '^end$'
		;;
	again)
		let_go
		attach
		let_go
		attach
		go_on '^phased$'
		let_go
		attach
		let_go
		go_on '^end$'
		;;
	esac
	end one
	close_in one
	echo "status $status" >>"$tmp/one.out"
	mv "$tmp/one.out" "$tmp/traced"
}

launched() {
	printf 'go\ngo\n' | apart timeout -k 5 "${LIMIT:-60}" "$DTRAP" \
	    "${args[@]}" -o "$tmp/dt.out" \
	    -c "$table table $turn $phase $bin/libdlo.so" \
	    >"$tmp/traced" 2>"$tmp/dt.err"
	is "$what: status of dtrap" "$?" 0
	echo "status $(ended "$tmp/dt.err")" >>"$tmp/traced"
}

# With the same descriptors: their numbers are in what is sent.
plain() {
	printf 'go\ngo\n' | apart timeout -k 5 "${LIMIT:-60}" "$table" table \
	    "$turn" "$phase" "$bin/libdlo.so" >"$tmp/plain"
	echo "status $?" >>"$tmp/plain"
}

# one MODE SCRIPT, of this turn and phase.
one() {
	local mode=$1 until='^phased$'
	what="TURN=$turn PHASE=$phase SCRIPT=$2 MODE=$mode"
	[ -z "${VERBOSE:-}" ] || echo "$what"
	case $mode in
	launched | to-its-end) until='^end$' ;;
	let-go-before) until='^ready' ;;
	esac
	script "$2"
	if [ "$mode" = launched ]; then
		launched
	else
		attached "$mode"
	fi
	comparable "$tmp/plain" "$until" >"$tmp/plain.is"
	comparable "$tmp/traced" "$until" >"$tmp/traced.is"
	same "$what" "$tmp/plain.is" "$tmp/traced.is"
	runs=$((runs + 1))
}

# pick ASKED NUMBER LIST...: what was asked for, or the element with this number.
pick() {
	local asked=$1 n=$2
	shift 2
	[ -n "$asked" ] && picked=$asked && return
	shift $((n % $#))
	picked=$1
}

# This turn, in each phase and way.
long() {
	local n=$turn s
	set -- "${scripts[@]}"
	for phase in ${PHASE:-"${phases[@]}"}; do
		plain
		for m in ${MODE:-"${modes[@]}"}; do
			pick "${SCRIPT:-}" "$n" "${scripts[@]}"
			[ -z "${ALL:-}" ] && set -- "$picked"
			for s; do
				one "$m" "$s"
			done
			n=$((n + 1))
		done
	done
}

# This turn, once.  9 phases, 14 scripts: the numbers have no divisor in common.
short() {
	local s
	pick "${PHASE:-}" "$turn" "${phases[@]}"
	phase=$picked
	pick "${SCRIPT:-}" "$turn" "${scripts[@]}"
	s=$picked
	pick "${MODE:-}" $((turn + turn / 5)) "${modes[@]}"
	plain
	one "$picked" "$s"
}

# Others that have found differences: turn, phase, script, mode.
found=("111 fork bare launched" "130 vfork libc to-its-end"
    "150 nothing bare to-its-end" "85 masks instructions again"
    "27 fork static to-its-end" "32 masks syscall launched")

runs=0
if [ -n "${TURN:-}" ]; then
	chosen=("$TURN")
elif [ -n "${TORTURE:-}" ]; then
	mapfile -t chosen < <(seq 0 $((turns - 1)))
else
	chosen=("${short[@]}")
fi
for turn in "${chosen[@]}"; do
	if [ -n "${TORTURE:-}" ]; then
		long
	else
		short
	fi
done
if [ -z "${TURN:-}${TORTURE:-}" ]; then
	for f in "${found[@]}"; do
		read -r turn phase picked mode <<<"$f"
		plain
		one "$mode" "$picked"
	done
fi
echo "$runs runs"
finish
