#!/bin/bash
# timeout: 180
# Stacks at every instruction of a function that is called in all the ways of
# src/stacks/stacks.c, in programs built in many ways: all frames are gdb's.
# shellcheck disable=SC2016 # D, not shell
. "${0%/*}/lib.sh"
# shellcheck source=t/e2e/stacks.sh
. t/e2e/stacks.sh
cc=${CC:-cc}
need gdb "$cc" objdump objcopy
need_gdb_python

src=t/e2e/src/stacks/stacks.c
export FUNCTIONS=here

# built NAME COMPILER OPTIONS...: "$tmp/NAME".
built() {
	local name=$1
	shift
	"$@" -w -o "$tmp/$name" "$src" -pthread || fail "cannot compile $name"
}

try() {
	local name=$1
	built "$@"
	LEAST=400 WHAT=$name same_stacks "$tmp/$name"
}

try O0 "$cc" -O0
try no-frame-pointers "$cc" -O2 -fomit-frame-pointer
try frame-pointers "$cc" -O2 -fno-omit-frame-pointer
try realigned "$cc" -O2 -mstackrealign -mincoming-stack-boundary=3
try vectors "$cc" -O3 -mavx2
try cet "$cc" -O2 -fcf-protection=full -Wl,-z,now
try nopie-lazy "$cc" -Os -no-pie -fno-pie -Wl,-z,lazy
# Of the C library in it gdb says other names by debug information, or none.
NOT=' (__libc_start|msort|exit)|\?$' try static "$cc" -O2 -static
NOT=' (__libc_start|msort|exit)|\?$' try static-pie "$cc" -O2 -static-pie
try protected "$cc" -O2 -fstack-protector-all -fstack-clash-protection
# Rules in .debug_frame alone.
try debug-frame "$cc" -O2 -g -fno-asynchronous-unwind-tables
# No rules: frame pointers, and what is known of signals.
try no-rules "$cc" -O1 -fno-asynchronous-unwind-tables -fno-unwind-tables \
    -fno-omit-frame-pointer
if command -v clang >/dev/null; then
	try clang clang -O2
fi

# Without symbols the rules are still there.
offsets() {
	objdump -d --no-show-raw-insn "$1" | awk '
		/^[0-9a-f]+ <here>:/ { on = 1; next }
		/^$/ { on = 0 }
		on { sub(":", "", $1); print "*0x" $1 }
		on && $2 == "ret" { exit }' | tr '\n' ' '
}
for how in '-static-pie' '-no-pie -fno-pie' '-pie -fPIE'; do
	# shellcheck disable=SC2086 # options are words
	built whole "$cc" -O2 $how
	objcopy --strip-all "$tmp/whole" "$tmp/bare"
	FUNCTIONS=$(offsets "$tmp/whole") LEAST=400 WHAT="stripped $how" \
	    same_stacks "$tmp/bare"
done

# Neither rules nor frame pointers: some frames cannot be known, and none is
# invented.  The same program before its rules were taken away tells what is
# true.
built ruled "$cc" -O2 -fomit-frame-pointer
gdb_stacks "$tmp/ruled"
objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr "$tmp/ruled"
dt_stacks "$tmp/ruled"
sed -E '/^0x0 /d; s/ .*//' "$tmp/gdb" >"$tmp/gdb.all"
once "$tmp/gdb.all" >"$tmp/true"
once "$tmp/dt" >"$tmp/said"
awk -v RS= -v FS='\n' '
	NR == FNR { stack[NR] = $0; next }
	{
		n = split(stack[FNR], true)
		for (i = at = 1; i <= NF; i++) {
			while (at <= n && true[at] != $i)
				at++
			if (at++ > n) {
				print "is not there: " $i " of " $0
				bad = 1
			}
		}
	}
	END { print FNR; exit bad }' "$tmp/true" "$tmp/said" >"$tmp/compared" ||
    wrong "$(head -n 20 "$tmp/compared")"
is "stacks without rules" "$(tail -n 1 "$tmp/compared")" \
    "$(grep -c '^$' "$tmp/true")"
is "first frames" "$(awk -v RS= '{ print $1 }' "$tmp/said" | cksum)" \
    "$(awk -v RS= '{ print $1 }' "$tmp/true" | cksum)"

# The other C library has no rules; gdb loses its way in it, dtrap ends
# where no frame pointer leads further.
if command -v musl-gcc >/dev/null; then
	cases="plain recursion tail variable aligned large jumped"
	for how in '' -static; do
		# shellcheck disable=SC2086 # options are words
		built musl musl-gcc -O2 $how -DNO_UCONTEXT
		# shellcheck disable=SC2086 # so are the cases
		LEAST=180 WHAT="musl $how" same_stacks "$tmp/musl" $cases
	done
	for how in 'thread start;musl.threaded;musl.plain' \
	    'cancel pthread_exit;musl.cleaner' 'ending last' \
	    'faulted faulted;musl.first_faults;[^;]*;musl.jumper' \
	    'nowhere nowhere;[^;]*;musl.jumper'; do
		rm -f "$tmp/ends"
		dt -q -x stackformat=folded -o "$tmp/ends" \
		    -n 'pid$target:a.out:here:entry { ustack(); }' \
		    -c "$tmp/musl ${how%% *}"
		has "$tmp/ends" "(^|;)musl.${how#* };musl.here\$"
	done
else
	echo "musl-gcc is not installed: its programs are left out"
fi
finish
