# shellcheck shell=bash
# Read by the tests of what a traced program can notice: each behaviour of
# t/e2e/src/behave/ untraced, launched by dtrap (-c), and attached to (-p), with
# probes where it passes all the time.  What it writes, how it ends, and how it
# treats signals afterwards must be the same.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"

behave=$bin/behave
# shellcheck disable=SC2016
hot='pid$target:a.out:work:,pid$target:a.out:hot:,pid$target:a.out:paged*:entry,
    pid$target:a.out:on_*:entry,pid$target:a.out:on_*:return,
    pid$target:a.out:rseq_add:entry,pid$target:a.out:registers:'
# shellcheck disable=SC2016
wide='syscall:::,pid$target:a.out::entry,pid$target:a.out::return,
    pid$target:libc:*sig*:entry,pid$target:libc:*longjmp*:entry,
    pid$target:libc:*wait*:entry,pid$target:libc:read:return,
    pid$target:libc:fork:,pid$target:libc:vfork:entry'
# What /proc says of a process that a tracer may have changed.
kept='^(Sig(Blk|Ign|Cgt|Pnd)|ShdPnd|Seccomp|Seccomp_filters|NoNewPrivs|Threads|TracerPid|CoreDumping):'

# skipped FILE: could the behaviour not be had here?
skipped() {
	grep '^skip:' "$1"
}

# launched NAME PROBES: by -c.
launched() {
	local what=$2
	rm -f "$tmp/trace"
	LC_ALL=C timeout -k 5 "${LIMIT:-150}" "$DTRAP" -Z -o "$tmp/trace" \
	    -n "$what { @hits = count(); }" -c "$behave $1" \
	    >"$tmp/traced" 2>"$tmp/dtrap.err" </dev/null
	is "$1 by -c: status of dtrap" "$?" 0
	echo "status $(ended "$tmp/dtrap.err")" >>"$tmp/traced"
	same "$1 by -c" "$tmp/plain" "$tmp/traced"
	hasnt "$tmp/dtrap.err" 'drop|error|internal'
	hits=$(awk 'NF == 1 { print $1 }' "$tmp/trace" 2>/dev/null | tail -n 1)
	[ "${hits:-0}" -gt 0 ] || wrong "$1 by -c: no probe fired"
}

# until NAME REGEX: like `line', but 1 at its end.
until_line() {
	while IFS= read -r -t 60 -u "${out[$1]}" line; do
		[[ $line =~ $2 ]] && return 0
		printf '%s\n' "$line" >>"$tmp/$1.out"
	done
	return 1
}

# go_on NAME: tell a behaviour to begin; when it has finished, or ended, its
# output and what /proc says are in "$tmp/NAME.out".  `let' is called between.
go_on() {
	tell "$1" go
	if until_line "$1" '^finished '; then
		let_go
		grep -E "$kept" "/proc/${pid[$1]}/status" >>"$tmp/$1.out"
		tell "$1" go
	else
		let_go
	fi
	end "$1"
	echo "status $status" >>"$tmp/$1.out"
}

# start_traced ARGS...: start_dt, of what may be a process that can map no memory:
# that is refused, with the reason, until one insists.
start_traced() {
	start_null dt "$DTRAP" -x switchrate=5ms \
	    -n 'BEGIN { printf("armed\n"); }' "$@"
	until_line dt '^.*armed$' && return
	end dt
	has "$tmp/dt.err" 'cannot be protected .*(seccomp|Cannot allocate memory).*-x unprotected'
	start_dt dt -x unprotected "$@"
}

# attached NAME PROBES: by -p, before it begins, or in the middle where it waits
# for us there.
attached() {
	local name=$1 how=-w probes=$2
	case $midway in
	*" $name "*) how=-m ;;
	esac
	let_go() { :; }
	start plain "$behave" $how "$name"
	until_line plain '^ready' || fail "$name does not get ready"
	go_on plain
	mv "$tmp/plain.out" "$tmp/alone"

	start traced "$behave" $how "$name"
	until_line traced '^ready' || fail "$name does not get ready"
	start_traced -Z -q -n "$probes { @hits = count(); }" -p "${pid[traced]}"
	let_go() {
		kill -INT "${pid[dt]}" 2>/dev/null
		end dt
		is "$name by -p: status of dtrap" "$status" 0
		# What may be written to has no probes.
		[ "$name" = writable-text ] || has "$tmp/dt.out" '^ +[1-9]'
	}
	go_on traced
	same "$name by -p" "$tmp/alone" "$tmp/traced.out"
}

# Those that wait in their middle.
midway=" $("$behave" -l memory | tr '\n' ' ') $("$behave" -l limits |
    grep -vE 'no-random|^deleted$|nameless' | tr '\n' ' ') "

# behave_alike NAME...
behave_alike() {
	local name
	for name; do
		"$behave" "$name" >"$tmp/plain" 2>&1 </dev/null
		echo "status $?" >>"$tmp/plain"
		skipped "$tmp/plain" && continue
		launched "$name" "$wide"
		attached "$name" "$hot"
		echo "$name: $hits hits"
	done
}

# behaviours GROUP...: all of them.
behaviours() {
	# shellcheck disable=SC2046
	behave_alike $(for g in "$@"; do "$behave" -l "$g"; done)
}
