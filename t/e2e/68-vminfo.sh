#!/bin/bash
# The vminfo provider: each page fault of user code, with its address and its
# function, for every user and without a stop.
. "${0%/*}/lib.sh"
perf_users || skip "$(cat "$tmp/err")"

for user in $users; do
	as_user "$user"
	# shellcheck disable=SC2016
	start dt "${as[@]}" -q -n 'vminfo:::as_fault {
		printf("%d %x %A\n", arg0, arg1, arg2); }' -c "$bin/touches 300"
	line dt ready
	tell dt go
	end dt
	is "$user: status" "$status" 0
	is "$user: messages" "$(cat "$tmp/dt.err")" ""
	# Every page faults once, in order, in touch().
	awk '
	function hex(s,  i, n) {
		for (i = 1; i <= length(s); i++)
			n = 16 * n + index("0123456789abcdef", substr(s, i, 1)) - 1
		return n
	}
	$1 == "pages" { at = hex($2) }
	$3 ~ /touches`touch$/ { one += $1 == 1; addr[++m] = hex($2) }
	END {
		for (i = 1; i <= m; i++)
			if (addr[i] != at + (i - 1) * 4096)
				bad++
		if (m != 300 || bad || one != m) {
			print m, bad + 0, one
			exit 1
		}
	}' "$tmp/dt.out" || wrong "$user: the faults"

	# With stacks they may be more than there is room for; what is not there is
	# told.
	start dt "${as[@]}" -q -n 'vminfo:::as_fault { @n = count();
		@[ustack(2)] = count(); } END { printa("all %@d\n", @n); }' \
	    -c "$bin/touches 300"
	line dt ready
	tell dt go
	end dt
	is "$user, stacks: status" "$status" 0
	awk '
	/touches`touch(\+.*)?$/ { on = 1; next }
	on && /touches`main\+/ { on = 2; next }
	on == 2 && NF == 1 { touched += $1; on = 0 }
	/drops? of records? of the kernel/ { lost += $2 }
	END { if (touched == 0 || touched + lost < 300) {
		print touched + 0, lost + 0; exit 1 } }' \
	    "$tmp/dt.out" "$tmp/dt.err" || wrong "$user: the stacks"
done

dt -n 'vminfo:::cow_fault { trace(1); }'
is "cow_fault: status" "$status" 1
has "$tmp/err" 'does not match any probes; vminfo has as_fault and maj_fault'
finish
