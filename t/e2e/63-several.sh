#!/bin/bash
# Several processes at once, and several threads of one.
. "${0%/*}/lib.sh"

pids=()
for n in a b c; do
	start $n "$bin/threads" 800 wait
	line $n ready
done
# shellcheck disable=SC2016
start_dt dt -q \
    -n "pid${pid[a]}:a.out:work:entry,pid${pid[b]}:a.out:work:entry,pid${pid[c]}:a.out:work:entry
	{ @[pid] = count(); @tids[tid] = count(); }" \
    -n 'END { printa("%d %@d\n", @); printa("thread %d %@d\n", @tids); }' \
    -p "${pid[a]}" -p "${pid[b]}" -p "${pid[c]}"
for n in a b c; do
	pids[${#pids[@]}]=${pid[$n]}
	tell $n go
done
for n in a b c; do
	end $n
	is "$n: status" "$status" 0
	has "$tmp/$n.out" '^calls 800$'
done
end dt
is "status" "$status" 0
for p in "${pids[@]}"; do
	has "$tmp/dt.out" "^$p 800\$"
done
is "threads" "$(grep -c '^thread [0-9]* 100$' "$tmp/dt.out")" 24
for p in "${pids[@]}"; do
	kill -0 "$p" 2>/dev/null && wrong "$p lives"
done

# One ends, the other is still traced; -c and -p together.
start a "$bin/threads" 800 wait
line a ready
# shellcheck disable=SC2016
start_dt dt -q -n 'pid$target:a.out:work:entry { @ = count(); }' \
    -n "pid${pid[a]}:a.out:work:entry { @other = count(); }" \
    -n 'END { printa("own %@d\n", @); printa("other %@d\n", @other); }' \
    -c "$bin/threads 400" -p "${pid[a]}"
line dt '^calls 400$'
tell a go
end a
end dt
is "status" "$status" 0
has "$tmp/dt.out" '^own 400$'
has "$tmp/dt.out" '^other 800$'

# A child that was there before is a process of its own: traced when it is named
# as well.  One that comes later is followed.
need_attach
# shellcheck disable=SC2016
calls='syscall::write:entry /arg0 == 1/ { @[copyinstr(arg1, arg2)] = count(); }
	END { printa("%s %@d\n", @); }'
for both in '' yes; do
	start elder "$bin/elder"
	line elder ready
	child=${line##* }
	start_dt dt -q -n "$calls" -p "${pid[elder]}" ${both:+-p "$child"}
	tell elder go
	line elder 'done'
	close_in elder
	end elder
	end dt
	is "status ${both:+with its child}" "$status" 0
	is "writes ${both:+with its child}" \
	    "$(grep -v armed "$tmp/dt.out" | grep . | sort | tr '\n' ',')" \
	    "${both:+child 1,}done 1,young 1,"
done
finish
