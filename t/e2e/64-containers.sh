#!/bin/bash
# dtrap -H lxc:NAME, systemd:UNIT, podman:NAME and -p @NAME: the processes of a
# control group, also those that come, with mounts of their own; others are left
# alone.
# timeout: 300
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_attach
need unshare mount
[ "$(id -u)" = 0 ] || skip "only root may make control groups"

top=
for top in /sys/fs/cgroup/unified /sys/fs/cgroup/pids /sys/fs/cgroup; do
	[ -w "$top/cgroup.procs" ] && break
done
box=$top/lxc.payload.dtrap$$ unit=$top/dtrap$$.service
mkdir "$box" "$unit" 2>/dev/null || skip "no control group may be made"
trap 's=$?; for p in "${pid[@]}"; do kill -KILL "$p" 2>/dev/null; done
    wait 2>/dev/null; rmdir "$box" "$unit"; (exit $s); cleanup' EXIT

# inside GROUP TMP COMMAND...: run it there, with mounts of its own, in which the
# program has another path.
mkdir "$tmp/ours" "$tmp/theirs"
cp "$bin/threads" "$tmp/theirs/work"
cp "$bin/busy" "$tmp/theirs/busy"
cat >"$tmp/inside" <<'END'
#!/bin/bash
echo $$ >"$1/cgroup.procs" && exec unshare -m bash -c '
	mount --bind "$1/theirs" "$1/ours" && exec "${@:2}"' - "${@:2}"
END
chmod 755 "$tmp/inside"
start a "$tmp/inside" "$box" "$tmp" "$tmp/ours/work" 80 wait
line a ready
start b "$tmp/inside" "$unit" "$tmp" "$tmp/ours/work" 160 wait
line b ready
start other "$bin/threads" 40 wait
line other ready

start_null dt "$DTRAP" -q -H "lxc:dtrap$$,systemd:dtrap$$" -x snaprate=100ms \
    -x heartbeat=10s -n '
    BEGIN { @up[vmname] = count(); }
    pid$target:work:work:entry { @by[vmname] = count(); @all = count(); }
    pid$target:busy:work:entry { @late = count(); }
    tick-100ms { printa("up %s %@d\n", @up); printa("so far %@d\n", @all);
	printa("late %@d\n", @late); }
    END { printa("all %@d\n", @all); printa("by %s %@d\n", @by); }'
line dt '^up dtrap.* 2$'
for p in a b other; do
	tell $p go
	end $p
	is "$p: status" "$status" 0
done
line dt '^so far 240$'
# One that comes works until it is seen.
start late "$tmp/inside" "$box" "$tmp" "$tmp/ours/busy"
line late ready
line dt '^late [1-9]'
close_in late
end late
has "$tmp/late.out" '^done wrong 0$'
kill -INT "${pid[dt]}"
end dt
is "status" "$status" 0
has "$tmp/dt.out" '^all 240$'

# What there is none of.
dt -n 'BEGIN { exit(0); }' -p @podman:nothing-of-this-name
is "no container: status" "$status" 1
has "$tmp/err" 'there is no such container of this user'
dt -n 'BEGIN { exit(0); }' -p @vm:x
has "$tmp/err" 'no such kind: podman, docker, lxc and systemd are$'

# By the name alone.
cp "$bin/threads" "$tmp/dtrap-named"
start named "$tmp/dtrap-named" 80 wait
line named ready
start_null dt "$DTRAP" -q -p @dtrap-named -x switchrate=10ms -n '
    BEGIN { printf("armed\n"); }
    pid$target:a.out:work:entry { @ = count(); } END { printa("n %@d\n", @); }'
line dt armed
tell named go
end named
kill -INT "${pid[dt]}"
end dt
has "$tmp/dt.out" '^n 80$'

# An ordinary user: another's container needs root.
if command -v setpriv >/dev/null; then
	start a "$tmp/inside" "$box" "$tmp" "$tmp/ours/work" 80 wait
	line a ready
	chmod 755 "$tmp"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$DTRAP" \
	    -n 'BEGIN { exit(0); }' -p "@lxc:dtrap$$" >"$tmp/out" 2>"$tmp/err"
	is "another user's: status" "$?" 1
	has "$tmp/err" "another user's needs root"
fi
finish
