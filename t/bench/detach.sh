#!/bin/bash
# How long it takes from SIGTERM until the target is released, and until the
# tracer has ended, when its probes are hit all the time: with threads that run,
# that sleep, and that cannot be woken.
. "${0%/*}/lib.sh"
TURNS=${TURNS:-5}

mkfifo "$tmp/in" "$tmp/armed"

# target COMMAND...: it says "ready".
target() {
	rm -f "$tmp/said"
	"$@" <"$tmp/in" >"$tmp/said" 2>/dev/null &
	beside=$!
	exec 3>"$tmp/in"
	until grep -q '^ready' "$tmp/said" 2>/dev/null; do
		kill -0 "$beside" || exit 1
	done
}

target_ends() {
	exec 3>&-
	wait "$beside"
	beside=
}

# leaves PROBES: ms until nobody traces the last thread any more, and until dtrap
# has ended, the best of $TURNS and the worst.  Read by who does not wait for a
# processor, where that may be had.
leaves() {
	local i tracer reader
	for ((i = 0; i < TURNS; i++)); do
		"$DTRAP" -q -x fastpath=off -x switchrate=5ms -n "$1 { @ = count(); }" \
		    -n 'BEGIN { printf("armed\n"); }' -p "$beside" \
		    >"$tmp/armed" 2>/dev/null &
		tracer=$!
		exec 4<"$tmp/armed"
		read -r _ <&4
		cat <&4 >/dev/null &
		reader=$!
		# shellcheck disable=SC2016 # Perl, not shell
		"${rt[@]}" perl -MTime::HiRes=time,sleep -e '
			my ($target, $tracer) = @ARGV;
			my ($last) = sort { $b <=> $a }
			    map { m,(\d+)$, } glob "/proc/$target/task/*";
			open my $f, "<", "/proc/$target/task/$last/status";
			grep /^TracerPid:\s*$tracer$/, <$f> or
			    die "it does not trace\n";
			my ($from, $free) = (time);
			kill TERM => $tracer;
			for (;;) {
				if (!$free) {
					open my $f, "<", "/proc/$target/task/$last/status";
					$free = time if !grep /^TracerPid:\s*[1-9]/, <$f>;
				}
				open my $f, "<", "/proc/$tracer/stat" or last;
				last if <$f> =~ /.*\) [ZX]/;
				sleep 0.0005;
			}
			printf "%.1f %.1f\n", 1000 * (($free || time) - $from),
			    1000 * (time - $from);' "$beside" $tracer
		exec 4<&-
		# Else the next tracer's pipe would have a reader that is ending.
		wait $tracer $reader
	done | awk '{ for (i = 1; i <= 2; i++) {
			if (NR == 1 || $i < best[i]) best[i] = $i
			if ($i > worst[i]) worst[i] = $i } }
		END { print best[1], worst[1], best[2], worst[2] }'
}
rt=()
chrt -f 1 true 2>/dev/null && rt=(chrt -f 1)

# shellcheck disable=SC2016
work='pid$target:a.out:work:,pid$target:libc:nanosleep:'
table 'ms from SIGTERM' 'released: best' worst 'ended: best' worst
target "$PWD/$B/e2e/busy" 8
# shellcheck disable=SC2046 # two words
{
row '8 threads that run' $(leaves "$work")
target_ends
target "$PWD/$B/e2e/busy" 300
row '300 threads that run' $(leaves "$work")
target_ends
target "$PWD/$B/e2e/busy" 8
kill -STOP "$beside"
row '8 threads, stopped by SIGSTOP' $(leaves "$work")
kill -CONT "$beside"
target_ends
# shellcheck disable=SC2016
target "$PWD/$B/e2e/vforked"
echo >&3
until grep -q '^child' "$tmp/said"; do :; done
# shellcheck disable=SC2016
row 'a parent in vfork' $(leaves 'pid$target:libc:*vfork:')
echo >&3
target_ends
for n in 20 500; do
	target "$PWD/$B/e2e/restless" "$n"
	row "$n threads in every state" $(leaves "$work")
	target_ends
done
}
