# shellcheck shell=bash
# Read by the tests of libdtrap-sdt in other languages, t/e2e/73-provider-*.sh.
#
# A program of src/provider does what its arguments say or, without arguments, the lines
# of its input, and answers each:
#
#	make	makes a provider `fires' with a probe `sold'; "made"
#	once	fires it with 7 and "seven"; "fired once"
#	fire	fires it from 4 threads, for each N below 100,000 with N and "what N";
#		"fired"
#	spin	fires it with -1 and "spin" for ever; "spinning" when that was compiled
#	drop	makes 1,000 providers `types' and drops them; "dropped"
#	bad	asks for what is refused; "bad: " and the exception's words, and "badly"
#	types	fires probes with each type; "typed"
. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/bpftrace.sh"
need_attach
need gdb
export LIMIT=120
# shellcheck disable=SC2034 # tests use it
src=$PWD/t/e2e/src/provider
seq 0 99999 | sed 's/.*/& what &/' | sort >"$tmp/want"
buffers=(-x bufsize=64m -x strsize=32)

# drain NAME: what it writes goes to its file from now on, while it runs.
drain() {
	local fd=${out[$1]}
	cat <&"$fd" >>"$tmp/$1.out" &
	reader=$!
	exec {fd}<&-
	unset "out[$1]"
}

# all_hits WHAT FILE ERRORS: are they what the program has fired?
all_hits() {
	grep -E '^[0-9]+ what [0-9]+$' "$2" | sort >"$tmp/got"
	same "$1: 100,000 hits" "$tmp/want" "$tmp/got"
	hasnt "$3" 'drop|error'
}

launched() {
	# shellcheck disable=SC2016 # D
	dt -q -Z "${buffers[@]}" \
	    -n 'fires$target:::sold { printf("%d %s\n", arg0, copyinstr(arg1)); }' \
	    -c "$(quote "$@" make fire)"
	is "launched: status" "$status" 0
	has "$tmp/out" '^fired$'
	all_hits launched "$tmp/out" "$tmp/err"
}

# attached WHAT D: to what is there already, or not yet.
attached() {
	start_dt dt -q -Z "${buffers[@]}" -p "${pid[app]}" -n "fires*:::sold { $2 }"
	drain dt
	[ "$1" != before ] || { tell app make; line app '^made$'; }
	tell app fire
	line app '^fired$'
	kill -INT "${pid[dt]}"
	end dt
	wait "$reader"
	is "attached $1: status" "$status" 0
	all_hits "attached $1" "$tmp/dt.out" "$tmp/dt.err"
}

# The files of the provider's objects, as others name them.
objects() {
	local fd
	for fd in /proc/"${pid[app]}"/fd/*; do
		case $(readlink "$fd") in "/memfd:$1"*) echo "$fd" ;; esac
	done
}

# bpftrace counts in the semaphore, too.
by_bpftrace() {
	local d='' file
	if [ "$(id -u)" != 0 ] || ! command -v bpftrace >/dev/null || ! timeout 60 \
	    bpftrace -e 'uprobe:/proc/self/exe:main { } BEGIN { exit(); }' \
	    >"$tmp/try" 2>&1; then
		echo "bpftrace is not installed or does not work here: not compared"
		return
	fi
	for file in $(objects fires); do
		d="$d usdt:$file:fires:sold {
			if (str(arg1) == \"seven\") { printf(\"seven\\n\"); } else {
			@hits = count(); @sum = sum(arg0); @last = max(arg0); } }"
	done
	start_null bpf bpftrace -B line -p "${pid[app]}" -e "$d"
	heard 500 seven once '^fired once$'
	tell app fire
	line app '^fired$'
	end_bpftrace
	has "$tmp/bpf.out" '^@hits: 100000$'
	has "$tmp/bpf.out" '^@sum: 4999950000$'
	has "$tmp/bpf.out" '^@last: 99999$'
}

# gdb stops at the probe; the program ends after that.
by_gdb() {
	cat >"$tmp/script" <<'GDB'
set pagination off
set confirm off
handle SIGSEGV nostop noprint pass
break -probe-stap fires:sold
commands
silent
printf "%d %s\n", $_probe_arg0, (char *)$_probe_arg1
continue
end
echo armed\n
continue
GDB
	start_null gdb gdb -nx -batch -p "${pid[app]}" -x "$tmp/script"
	line gdb '^armed$'
	tell app once
	line app '^fired once$'
	close_in app
	end app
	is "status" "$status" 0
	end gdb
	has "$tmp/gdb.out" '^7 seven$'
	is "hits of gdb" "$(grep -c '^7 seven$' "$tmp/gdb.out")" 1
}

# Exactly the same in all ways.
fires_everywhere() {
	launched "$@"
	start app "$@"
	line app '^ready$'
	attached before 'printf("%d %s\n", arg0, copyinstr(arg1));'
	dt -l -v -P 'fires*' -p "${pid[app]}"
	has "$tmp/out" " fires${pid[app]} +fires.so +$FUNCTION +sold$"
	has "$tmp/out" "args.0.: ${TYPE}$"
	has "$tmp/out" 'args.1.: string$'
	attached after 'printf("%d %s\n", args[0], args[1]);'
	by_bpftrace
	by_gdb
}

# In a compiled loop, which a tracer finds already running.
seen_in_loop() {
	start app "$@"
	tell app make
	tell app spin
	line app '^spinning$'
	dt -q -p "${pid[app]}" -n 'fires*:::sold /arg0 == -1/ {
		printf("%s\n", copyinstr(arg1)); exit(0); }'
	is "in a loop: status" "$status" 0
	has "$tmp/out" '^spin$'
	kill -KILL "${pid[app]}"
	end app 2>/dev/null
}

# refused WANT COMMAND...: what is bad is refused, in these words, and the program goes
# on.
refused() {
	printf '%s\n' "$1" >"$tmp/refusals"
	shift
	start app "$@"
	tell app bad
	line app '^badly$'
	grep '^bad: ' "$tmp/app.out" | sed 's/^bad: //' >"$tmp/got"
	same "what is refused" "$tmp/refusals" "$tmp/got"
	tell app make
	line app '^made$'
	close_in app
	end app
	is "after what is refused: status" "$status" 0
}

# typed WANT D COMMAND...: arguments of each type arrive.
typed() {
	local want=$1 d=$2
	shift 2
	dt -q -Z -x strsize=8k -n "$d" -c "$(quote "$@" types)"
	is "types: status" "$status" 0
	has "$tmp/out" '^typed$'
	grep '^+' "$tmp/out" >"$tmp/got"
	printf '%s\n' "$want" >"$tmp/types"
	same "types" "$tmp/types" "$tmp/got"
}

resident() {
	sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB$/\1/p' "/proc/${pid[app]}/status"
}

# 1,000 providers, and 4,000 more: less than two pages of each may be left, which is the
# noise of the collectors and less than an object.
dropped() {
	local had i
	start app "$@"
	tell app drop
	line app '^dropped$'
	had=$(resident)
	for ((i = 0; i < 4; i++)); do
		tell app drop
		line app '^dropped$'
	done
	is "mappings left" "$(grep -c memfd:types "/proc/${pid[app]}/maps")" 0
	is "descriptors left" "$(objects types)" ""
	[ $(($(resident) - had)) -lt 32000 ] ||
	    wrong "memory left: $had kB, then $(resident) kB"
	close_in app
	end app
	is "dropped: status" "$status" 0
}
