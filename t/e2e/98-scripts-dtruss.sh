#!/bin/bash
# dtruss.d shows what strace shows; and what scripts can ask for by name.
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=t/e2e/scripts.sh
. t/e2e/scripts.sh
need strace

# normal FILE: what is between the two calls of getppid(), without what differs
# from run to run, and without the sentences that strace puts behind errors.  It
# has an order of its own for each kind of flag.
normal() {
	sed -E '1,/getppid/d' "$1" | sed -E '/getppid/,$d
	    s/ +=/ =/; s/ \([A-Z][^()]*\)$//; s/0x[0-9a-f]{6,}/PTR/g
	    s/\[[0-9]+ => ([0-9]+)\]/[\1]/
	    s/ = 0x1 \(flags FD_CLOEXEC\)$/ = 1/' | python3 -c '
import re, sys
for line in sys.stdin:
    print(re.sub(r"\w+(\|\w+)+", lambda m: "|".join(sorted(
        m.group().split("|"))), line), end="")'
}

mkdir "$tmp/one" "$tmp/two"
strace -e signal=none -o "$tmp/strace" "$bin/decoded" "$tmp/one" ||
    skip "strace does not work here"
script dtruss.d -c "$bin/decoded $tmp/two"
sed -E 's/^[0-9]+\.[0-9]+: //' "$tmp/out" >"$tmp/dtruss"
normal "$tmp/strace" >"$tmp/want"
normal "$tmp/dtruss" >"$tmp/got"
is "calls" "$(wc -l <"$tmp/got")" "$(wc -l <"$tmp/want")"
[ "$(wc -l <"$tmp/want")" -gt 50 ] || wrong "only $(wc -l <"$tmp/want") calls"
same "dtruss and strace" "$tmp/want" "$tmp/got"

# One by one, and where they are no number of that kind.
dt -q -n 'BEGIN { printf("%s %s %s %s|", errno_name[2], errno_name[111],
	errno_name[0], errno_name[4000]); printf("%s %s %s %s|", signal_name[15],
	signal_name[9], signal_name[35], signal_name[0]);
	printf("%s %s %s", open_flags[0], open_flags[0x80241],
	open_flags[0x8000003]); exit(0); }'
is "names" "$(cat "$tmp/out")" "ENOENT ECONNREFUSED 0 4000|SIGTERM SIGKILL SIGRT_3 0|O_RDONLY O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC 3|0x8000000"
dt -q -o "$tmp/addresses" -n 'syscall::connect:entry {
	printf("%s\n", socket_address[arg1]); }' -c "$bin/decoded $tmp/two"
cat >"$tmp/want" <<'END'
{sa_family=AF_INET, sin_port=htons(1), sin_addr=inet_addr("127.0.0.1")}
{sa_family=AF_UNIX, sun_path="socket"}
{sa_family=AF_UNIX, sun_path=@"name"}
END
sed -i '/^$/d' "$tmp/addresses"
same "addresses" "$tmp/want" "$tmp/addresses"
finish
