# shellcheck shell=bash disable=SC2154 # lib.sh assigns them
# Read by the tests of stacks: the same program run by gdb and by dtrap, with a
# stop at each instruction of a function, and the stacks compared: modules,
# addresses, and the symbols of both.

# gdb_stacks PROGRAM ARGS...: what gdb sees, in "$tmp/gdb", one frame a line, an
# empty line after each stack.  FUNCTIONS, STOPS, DEPTH and BEGIN are for
# gdb-stacks.py.
gdb_stacks() {
	rm -f "$tmp/gdb"
	# shellcheck disable=SC2086 # FUNCTIONS is one word there
	STACKS=$tmp/gdb timeout -k 5 "${LIMIT:-120}" gdb -q -nx -batch \
	    -x t/e2e/gdb-stacks.py --args "$@" \
	    </dev/null >"$tmp/gdb.out" 2>"$tmp/gdb.err"
	[ -s "$tmp/gdb" ] || {
		cat "$tmp/gdb.err" >&2
		fail "gdb shows no stack of $*"
	}
}

# The probes at the instructions of $FUNCTIONS, those in a module of $MODULE.
stack_probes() {
	local f
	for f in $FUNCTIONS; do
		case $f in
		\**) printf '%s' "pid\$target:${MODULE:-a.out}:-:${f#\*0x}," ;;
		*) printf '%s' "pid\$target:${MODULE:-a.out}:$f:," ;;
		esac
	done | sed 's/,$//'
}

# dt_stacks PROGRAM ARGS...: the same as dtrap sees it, in "$tmp/dt" by address
# and in "$tmp/names" by name.  The first has the rules and libunwind compared:
# but for callers of which a line of standard error is like $DIFFER they see the
# same.  In "$tmp/libunwind" libunwind goes first.
dt_stacks() {
	local how
	local -A options=([dt]='-x noresolve -x unwinder=check' [names]=''
		[libunwind]='-x noresolve -x unwinder=libunwind')
	for how in dt names libunwind; do
		rm -f "$tmp/$how"
		# shellcheck disable=SC2086 # options are words
		DTRAP_DEBUG=unwind dt -q -x ustackframes="${DEPTH:-90}" \
		    -x stackindent=0 -x demangle=off ${options[$how]} \
		    -o "$tmp/$how" \
		    -n "$(stack_probes)"'
			/probename != "entry" && probename != "return"/
			{ ustack(); }' -c "$(quote "$@")"
		is "$*: status" "$status" 0
		sed -i '1{/^$/d}' "$tmp/$how"
		[ "$how" != dt ] || cp "$tmp/err" "$tmp/check"
	done
	grep 'unwinder=check' "$tmp/check" | grep -vE "${DIFFER:-^$}" |
	    sort | uniq -c | sort -rn >"$tmp/differ"
	[ ! -s "$tmp/differ" ] ||
	    wrong "$*: the rules and libunwind differ: $(head "$tmp/differ")"
}

# The frames of FILE, each stack once where it comes several times in a row: at
# an instruction that repeats itself gdb stops for each time.
once() {
	awk -v RS= -v ORS='\n\n' '$0 != last { print } { last = $0 }' "$1"
}

# same_names MODULE: the addresses in it are of the same symbols, where it has
# any.  (Other modules may have theirs in separate files, or not.)
same_names() {
	grep "^$1:" "$tmp/gdb" | grep -vE "${NOT:- \?\$}" |
	    sort -u >"$tmp/gdb.names"
	[ -s "$tmp/gdb.names" ] || return 0
	# shellcheck disable=SC2016 # what is before the backquote goes
	paste -d ' ' "$tmp/dt.raw" "$tmp/names" | grep "^$1:" |
	    sed 's/ [^`]*`/ /' | grep -vE "${NOT:- \?\$}" |
	    sort -u >"$tmp/dt.names"
	same "${WHAT:-$1}: names by gdb and by dtrap" "$tmp/gdb.names" \
	    "$tmp/dt.names"
}

# same_stacks PROGRAM ARGS...: all frames are those of gdb by address, and those
# in the program by name.
same_stacks() {
	local n
	gdb_stacks "$@"
	dt_stacks "$@"
	# An address of 0 is left out.
	sed -E "${GDB_EDIT:-}"';/^0x0 /d; s/ .*//' "$tmp/gdb" >"$tmp/gdb.all"
	cp "$tmp/dt" "$tmp/dt.raw"
	sed -E "${DT_EDIT:-}" "$tmp/dt" >"$tmp/dt.all"
	once "$tmp/gdb.all" >"$tmp/gdb.at"
	once "$tmp/dt.all" >"$tmp/dt"
	same "${WHAT:-$*}: stacks by gdb and by dtrap" "$tmp/gdb.at" "$tmp/dt"
	sed -E "${DT_EDIT:-}" "$tmp/libunwind" >"$tmp/dt.all"
	once "$tmp/dt.all" >"$tmp/libunwind"
	same "${WHAT:-$*}: stacks by gdb and by libunwind" "$tmp/gdb.at" \
	    "$tmp/libunwind"
	same_names "$(basename "$1")"
	n=$(grep -c '^$' "$tmp/dt")
	[ "$n" -ge "${LEAST:-20}" ] || wrong "${WHAT:-$*}: only $n stacks"
	echo "${WHAT:-$*}: $n stacks, $(grep -c . "$tmp/dt") frames;" \
	    "$(sed -n 's/^unwind DEBUG [0-9]*: //p' "$tmp/check" | tail -n 1)"
}

need_gdb_python() {
	gdb -q -nx -batch -ex 'python print("it is")' 2>/dev/null |
	    grep -q 'it is' || skip "gdb has no Python"
}
