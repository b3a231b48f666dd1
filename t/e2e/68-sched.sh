#!/bin/bash
# timeout: 300
# The sched provider: each switch of each thread, for every user, and where a thread
# waits, without a stop.
. "${0%/*}/lib.sh"

perf_users || skip "$(cat "$tmp/err")"

# ---- their number ----

# Between two moments a thread is recorded as often as the kernel has counted: it
# gives the processor away, or it is taken.
# shellcheck disable=SC2016
d='sched:::off-cpu, sched:::preempt, sched:::on-cpu {
	printf("%d %s %d %d\n", tid, probename, timestamp, cpu); }'
for user in $users; do
	as_user "$user"
	timeout 60 "${as[@]}" -q -b 16m -n "$d" -c "$bin/switches turns 500" \
	    >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$user, turns: status" "$?" 0
	is "$user, messages" "$(cat "$tmp/err")" ""
	awk '
	$1 == "thread" { n++; t0[$2] = $3; t1[$2] = $4; own[$2] = $5 " " $6 }
	$2 == "off-cpu" || $2 == "on-cpu" || $2 == "preempt" { rec[++m] = $0 }
	END {
		for (i = 1; i <= m; i++) {
			split(rec[i], f, " ")
			if (!(f[1] in own) || f[3] < t0[f[1]] || f[3] > t1[f[1]])
				continue
			if (f[3] < last) { print "not in order"; bad++ }
			last = f[3]
			if (f[2] == "on-cpu") { on[f[1]]++; continue }
			k[f[1], f[2]]++
		}
		for (t in own) {
			off = k[t, "off-cpu"] + 0; pre = k[t, "preempt"] + 0
			got = (off - pre) " " pre
			if (got != own[t]) {
				print t ": " got ", but " own[t]; bad++
			}
			if (on[t] != off) { print t ": " on[t] " on"; bad++ }
			if (off < 1) { print t ": only " off; bad++ }
		}
		exit !(n == 2 && bad == 0)
	}' "$tmp/out" || wrong "$user: switches are not as the kernel counts them"
done

# ---- arguments and names ----
# The next thread is not known: its members are empty.
# shellcheck disable=SC2016
dt -q -n 'sched:::off-cpu /pid == $target/ {
	printf("%d %d [%s] %s %d\n", args[0]->pr_lwpid, args[1]->pr_pid,
	    args[1]->pr_fname, execname, cpu == curcpu->cpu_id); exit(0); }' \
    -c "$bin/switches turns 10"
has "$tmp/out" '^0 0 \[\] switches 1$'

# ---- where it waits ----

# waits PROGRAM USER: the stack of the thread that waits for a line, twice; the line
# is written when the stack has been printed.
waits() {
	as_user "$2"
	# shellcheck disable=SC2016
	start dt "${as[@]}" -q -x switchrate=20ms -n '
		sched:::off-cpu /tid != pid/ { printf("waits"); ustack(); }
		sched:::on-cpu /tid != pid/ { printf("goes on"); ustack(); }' \
	    -c "$bin/$1 waits"
	line dt ready
	tell dt go
	for _ in 1 2; do
		line dt 'deep\+'
		line dt 'wide\+'
		line dt 'outer\+'
		line dt 'waiter\+'
		tell dt more
		line dt 'goes on'
		line dt 'deep\+'
	done
	close_in dt
	end dt
	is "$1, $2: status" "$status" 0
	is "$1, $2: messages" "$(cat "$tmp/dt.err")" ""
	# Between these four nothing else is.
	awk -v p="$1" '
	/`deep\+/ { seen = ""; on = 1 }
	on && NF { split($1, f, /[`+]/); seen = seen f[2] " " }
	/`waiter\+/ { on = 0; if (seen != "deep wide outer waiter ") {
		print seen; bad++ } n++ }
	END { exit !(bad == 0 && n >= 2) }' "$tmp/dt.out" ||
	    wrong "$1, $2: the frames"
}
for program in switches switches-o0 switches-frame; do
	for user in $users; do
		waits "$program" "$user"
	done
done

# With CAP_PERFMON the kernel records the stack at each switch: there is none that is
# not seen, however short the wait.
perfmon() {
	local caps
	caps=$(sed -n 's/^CapEff:\t//p' /proc/self/status)
	[ $((0x$caps >> 38 & 1)) = 1 ]
}
if perfmon; then
	dt -q -n 'sched:::off-cpu { @[ustack(1)] = count(); }' -c "$bin/switches turns 100"
	is "stacks: status" "$status" 0
	hasnt "$tmp/out" 'not seen'
	has "$tmp/out" '`(read|write)\+'
fi

# ---- with variables of the thread, beside probes by jump ----
# shellcheck disable=SC2016
dt -q -x fastpath=on -n '
	pid$target:a.out:hand:entry { self->in = 1; @e = count(); }
	sched:::off-cpu /self->in/ { self->t = timestamp; }
	sched:::on-cpu /self->t/ { @on = count(); @neg = sum(timestamp < self->t);
		self->t = 0; }
	END { printa("in %@d\n", @e); printa("on %@d\n", @on);
		printa("early %@d\n", @neg); }' -c "$bin/switches turns 200"
is "variables: status" "$status" 0
has "$tmp/out" '^in 2$'
has "$tmp/out" '^early 0$'
[ "$(awk '$1 == "on" { print ($2 >= 200) }' "$tmp/out")" = 1 ] ||
    wrong "variables: $(cat "$tmp/out")"

# ---- what is not there ----
dt -n 'sched:::wakeup { trace(1); }'
is "wakeup: status" "$status" 1
has "$tmp/err" 'sched:::wakeup does not match any probes; .*on-cpu, off-cpu and preempt.*tracepoints'

# A thread for which there is no descriptor is not recorded, and it is told.
for n in {24..80..8}; do
	(ulimit -n "$n"; apart timeout 60 "$DTRAP" -v -q \
	    -n 'sched:::on-cpu { @ = count(); }' -c "$bin/switches crowd 40" \
	    >"$tmp/out" 2>"$tmp/err" </dev/null)
	status=$?
	[ "$status" != 0 ] || has "$tmp/out" '^met$'
	grep -q 'threads without records' "$tmp/err" && break
done
is "few descriptors: status" "$status" 0
has "$tmp/err" \
    '^dtrap: [1-9][0-9]* threads without records of the kernel: too many open files'
finish
