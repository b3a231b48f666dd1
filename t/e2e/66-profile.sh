#!/bin/bash
# profile-N samples the threads that run, also those that hit probes all the
# time; tick-N needs nobody.
. "${0%/*}/lib.sh"

# Two that are always due together, if the tracer takes the samples.
# shellcheck disable=SC2016
two='profile-100 { @pc[arg0 == 0 && arg1 != 0] = count(); a++; }
	profile-10ms { b++; }
	profile-100 /a >= 40/ { printf("%d\n", a - b <= 1 ? 1 : a - b); exit(0); }'
start busy "$bin/busy" 1
line busy ready
dt -q -x sampling=stops -n 'BEGIN { a = 0; b = 0; }' -n "$two" -p "${pid[busy]}"
is "two at once: status" "$status" 0
has "$tmp/out" '^1$'
has "$tmp/out" '^ +1 +40$'

# A thread that is at a tracepoint most of the time, or in code of dtrap by which
# hits go.  The program's linkage table has no names.
for way in off on; do
	# shellcheck disable=SC2016
	dt -q -x fastpath=$way -n 'pid$target:a.out::entry { @ = count(); }' \
	    -n 'profile-200 /pid == $target/ {
		@where[ufunc(arg1)] = count(); n++; }' \
	    -n 'profile-200 /n >= 20/ { exit(7); }' -n 'BEGIN { n = 0; }' \
	    -p "${pid[busy]}"
	is "hits and samples, fastpath $way: status" "$status" 7
	hasnt "$tmp/out" '^ *0x'
	hasnt "$tmp/out" '^ *dtrap'
	has "$tmp/out" '^ *busy`[a-z]'
done

# Many stops of other kinds, each of which may take the place of the one that a
# sample asks for; then one that runs and does not stop by itself.
start many sh -c 'echo ready; read -r x
	for i in 1 2 3 4 5 6 7 8; do for k in 1 2 3 4 5 6 7 8; do /bin/true; done
	done; exec yes >/dev/null'
line many ready
start_dt dt -q -n 'profile-997 /execname == "yes"/ { n++; }
	profile-997 /n >= 100/ { exit(6); } BEGIN { n = 0; }' -p "${pid[many]}"
tell many go
end dt
is "after many stops: status" "$status" 6

# One that sleeps is not disturbed.
start asleep "$bin/threads" 10 wait
line asleep ready
dt -q -n 'BEGIN { t = 0; } profile-1000 { @ = count(); }
	tick-10ms { t++; } tick-10ms /t == 20/ { printf("t %d\n", t); exit(0); }' \
    -p "${pid[asleep]}"
is "asleep: status" "$status" 0
has "$tmp/out" '^t 20$'
# It runs for a moment when it is let go after the writing.
n=$(awk 'NF == 1 { print $1 }' "$tmp/out")
[ "${n:-0}" -le 5 ] || wrong "a thread that sleeps was sampled $n times"

# Stopped and continued over and over: sampled whenever it runs, not else.
# shellcheck disable=SC2016
dt -q -w -n 'BEGIN { n = 0; } profile-500 /pid == $target/ { n++; }' \
    -n 'tick-7ms { system("kill -STOP %d; kill -CONT %d", $target, $target); }' \
    -n 'tick-7ms /n >= 200/ { exit(8); }' -p "${pid[busy]}"
is "stopped and continued: status" "$status" 8
is "stopped and continued: tracer" "$(tracer "${pid[busy]}")" 0

# Samples of user code alone: as many as without, with those that are reckoned, and the
# share of a function that makes no system calls is that of its clock.  Half a second
# of a thread that waits in the middle is no sample, and one that reads from a pipe all
# the time is sampled where it does.
perf_users || cat "$tmp/err"
# Where the clock takes a system call, as on an emulated machine, compute() makes them
# all the time.
source=tsc
read -r source </sys/devices/system/clocksource/clocksource0/current_clocksource
for user in $users; do
	as_user "$user"
	[ "$user" = nobody ] || as+=(-x sampling=user)
	# shellcheck disable=SC2016
	start dt "${as[@]}" -q -v -x stackformat=folded -n '
		profile-997 { @[ustack()] = count(); @n = count(); }
		END { printa("all %@d\n", @n); }' -c "$bin/spends 300 2"
	line dt ready
	tell dt go
	close_in dt
	end dt
	is "$user, user code: status" "$status" 0
	has "$tmp/dt.err" '^dtrap: profile-997: [1-9][0-9]* % of the samples are in the kernel, of which only option sampling=stops tells where$'
	has "$tmp/dt.err" '^dtrap: profile-997 has [1-9][0-9]* samples of user code, and [1-9][0-9]* that are reckoned, in the kernel'
	awk -v calls="$([ "$source" = hpet ] || [ "$source" = acpi_pm ] && echo 1)" '
	$1 == "all" { all = $2 }
	$1 == "compute" && NF == 2 { own = $2 }
	/compute.* [0-9]+$/ && /;/ { seen += $NF }
	/\[kernel\]/ { kernel += $NF }
	END {
		due = 997 * 1.8
		share = 100 * seen / (all ? all : 1)
		print all " of " due ", " kernel " in the kernel, compute " \
		    share ", by its clock " own
		exit !(all > due * 0.7 && all < due * 1.4 && kernel > 100 &&
		    (calls || (share > own - 7 && share < own + 7)))
	}' "$tmp/dt.out" || wrong "$user, user code: not what the clocks say"
done

# Nobody is traced: it ticks.
dt -q -n 'BEGIN { t = 0; } profile-1000 { t++; } profile-1000 /t > 9/ { exit(t); }'
is "no target: status" "$status" 10
finish
