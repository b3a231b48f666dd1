#!/bin/bash
# What Linux 4.18 has is enough.  `older' runs a command under a filter that
# refuses what came later, as such a kernel would (doc/kernels.md).
. "${0%/*}/lib.sh"
need_attach
"$bin/older" /bin/true || skip "no filter can be had"

printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$bin/older" "$DTRAP" >"$tmp/dtrap"
chmod +x "$tmp/dtrap"
DTRAP=$tmp/dtrap

# The guardian has no descriptor but its own: the end of the tracer's is how it
# knows of the tracer's.
start t "$bin/hotcool"
line t ready
p=${pid[t]}
text_kept "$p" >"$tmp/before"
# shellcheck disable=SC2016
start_dt dt -q -n 'pid$target:a.out:hot:entry { @ = count(); }' -p "$p"
guardian=$(guardian_of "${pid[dt]}")
for fd in "/proc/$guardian/fd/"*; do
	readlink "$fd"
done | sed -E 's/^(socket):.*/\1/; s,/[0-9]+/mem$,/PID/mem,' | sort >"$tmp/fds"
printf '%s\n' /dev/null /dev/null /dev/null /proc/PID/mem socket >"$tmp/want"
same "descriptors of the guardian" "$tmp/want" "$tmp/fds"
kill -KILL "${pid[dt]}"
end dt
while kill -0 "$guardian" 2>/dev/null && [ "$(state "$guardian")" != Z ]; do :; done
text_kept "$p" >"$tmp/after"
same "text after a kill" "$tmp/before" "$tmp/after"
alive t

# A filter of a process that does not come from us is not the one that we have:
# a call would be its death.
start box "$bin/sandbox" kill
line box '^(ready|no seccomp)'
if [ "$line" != 'no seccomp' ]; then
	# shellcheck disable=SC2016
	dt -q -n 'pid$target:a.out:work:entry { @ = count(); }' -p "${pid[box]}"
	is "sandbox: status" "$status" 1
	has "$tmp/err" "^dtrap: .*${pid[box]}.*seccomp"
	alive box
	tell box go
	line box '^worked'
fi

# Launched, with its system calls, by a filter of ours too; what forks.
for opts in '' '-x syscallfilter'; do
	# shellcheck disable=SC2016,SC2086
	dt -q $opts -n 'syscall::write:entry,pid$target:a.out:hot:entry
	    { @[probefunc] = count(); }
	    END { printa("%s %@d\n", @); }' -c "$bin/hotcool 3 4"
	is "launched $opts: status" "$status" 0
	has "$tmp/out" '^hot 3$'
	has "$tmp/out" '^write [1-9]'
	hasnt "$tmp/err" 'protect|drop|error'
done

# What is missing is named.
dt -v -q -n 'syscall::: { exit(0); }' -p "$p"
has "$tmp/err" '^dtrap: this kernel does not report which system calls are 32-bit .*Linux 5.3'
has "$tmp/err" '^dtrap: this kernel has no pidfd_getfd.*Linux 5.6'
alive t
finish
