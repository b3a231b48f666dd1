#!/bin/bash
# What runs in the virtual machine of t/kernel/run.sh, as its first process: the
# tests of the file $tests, and then the machine's end.
# shellcheck disable=SC2154 # words of the kernel's command line
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LANG=C.UTF-8 SLOW=${SLOW:-1}
export CK_TIMEOUT_MULTIPLIER=$SLOW
export B=${B:-build}
unset TERM

mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t tmpfs -o mode=755 run /run
# A tree below /tmp is not to vanish.
case $tree in
/tmp/*) ;;
*) mount -t tmpfs -o mode=1777 tmp /tmp ;;
esac
for fd in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do
	ln -sfn "/proc/self/${fd#*:}" "/dev/${fd%:*}"
done
ip link set lo up
hostname kernel

cd "$tree" || echo "inside.sh: no $tree"
uname -srvm
mapfile -t list <"$tests"
# `timeout' counts in this machine's own speed.
ELSEWHERE=1 PATH=$tree/$B/kernel/bin:$PATH DTRAP=$tree/${PROG:-dtrap} \
    PLOCKSTAT=$tree/${PLOCKSTAT:-plockstat} setsid t/run -j "${CPUS:-2}" "${list[@]}" </dev/null
echo "after $(cut -d' ' -f1 /proc/uptime) s"

sync
echo o >/proc/sysrq-trigger
# the first process must not end before that
read -r _ < <(tail -f /dev/null)
