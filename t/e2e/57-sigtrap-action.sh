#!/bin/bash
# A program's own action on SIGTRAP while ours is in the kernel: every call is
# answered as the kernel would, by the marker, by system call stops or both; what
# it sets is what happens, and what children and programs inherit.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
work='pid$target:a.out:work:entry,pid$target:a.out:work:return'

for what in answers twice inherits; do
	for more in '' ',syscall:::entry' ',profile-97'; do
		same_traced "$work$more" "$bin/trapaction" $what
	done
	OPTS='-x syscallfilter' same_traced "$work,syscall::rt_sigaction:" \
	    "$bin/trapaction" $what
done
# Without a probe in text there is a marker in the run-time linker's all the
# same.
same_traced 'profile-997,syscall::write:entry' "$bin/trapaction" inherits
# Where the call is not seen the kernel answers it; with all system calls
# traced it is seen.
same_traced "$work,syscall:::" "$bin/trapaction" answers unseen

# Children that are not followed, and new programs of theirs.
OPTS='-x follow=none' same_traced "$work" "$bin/trapaction" inherits

# The probe of the call itself fires, whoever answers.
dt -q -n 'syscall::rt_sigaction:entry /arg0 == 5/ { self->r = 1; }
	syscall::rt_sigaction:return /self->r/ {
		@[(int)arg0] = count(); self->r = 0;
	}
	'"$work"' { @hits = count(); }' -c "$bin/trapaction answers"
is "status" "$status" 0
awk 'NF == 2 && $1 ~ /^-?[0-9]+$/ && $2 ~ /^[0-9]+$/ { print $2, $1 }' "$tmp/out" >"$tmp/seen"
printf '%s\n' '3 -22' '15 -14' '57 0' >"$tmp/want"
same "calls by result" "$tmp/want" "$tmp/seen"

# The same again and again, with a tracer that comes and goes.
for what in asks ignores changes; do
	start t "$bin/trapaction" $what
	line t '^ready'
	for i in 1 2 3; do
		dt -q -n "$work { @ = count(); } tick-50ms { exit(0); }" \
		    -p "${pid[t]}"
		is "$what: status of dtrap" "$status" 0
		hasnt "$tmp/err" .
	done
	tell t stop
	line t '^done'
	is "$what: results" "$line" 'done wrong 0 told 0'
	end t
done

# guardian_of DTRAP PROGRAM: the process that dtrap has besides the program.
guardian_of() {
	tr ' ' '\n' <"/proc/$1/task/$1/children" | grep -vx "$2"
}

# The tracer and its guardian are killed: nobody but our handler is there for the
# int3s.
for what in asks ignores changes; do
	for how in attach launch; do
		if [ $how = attach ]; then
			start t "$bin/trapaction" $what
			line t '^ready'
			start_dt dt -q -n "$work { @ = count(); }" -p "${pid[t]}"
			p=${pid[t]}
		else
			# The program has its input from dtrap.
			start t "$DTRAP" -q -n "$work { @ = count(); }" \
			    -c "$bin/trapaction $what"
			line t '^ready'
			p=${line#ready }
			pid[dt]=${pid[t]}
		fi
		kill -KILL "$(guardian_of "${pid[dt]}" "$p")" "${pid[dt]}"
		wait "${pid[dt]}" 2>/dev/null
		tell t stop
		line t '^done'
		is "$what, $how: results" "${line% told*}" 'done wrong 0'
		if [ $how = attach ]; then
			end t
			is "$what: its end" "$status" 0
		fi
		unset "pid[t]" "pid[dt]"
	done
done
finish
