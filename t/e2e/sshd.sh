# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh assigns, tests read
# Hosts of the test's own: each has its own processes, mounts and sshd, on a
# loopback address of a network that only this test sees.  Read after lib.sh; runs
# the test again in that network.
[ "$(id -u)" = 0 ] || skip "only root may make networks"
need sshd ssh ssh-keygen ip unshare nsenter
if [ -z "${HOSTS_INSIDE:-}" ]; then
	unshare -nm true 2>/dev/null || skip "unshare: no network namespaces"
	HOSTS_INSIDE=1 exec unshare -nm --propagation private bash "$0"
fi
unset HOSTS_INSIDE
ip link set lo up || skip "ip: no loopback in a network of the test's own"
sshd=$(command -v sshd)
chmod 755 "$tmp"
keys() {
	ssh-keygen -q -t ed25519 -N '' -f "$tmp/user" || fail ssh-keygen
	ssh-keygen -q -t ed25519 -N '' -f "$tmp/key" || fail ssh-keygen
	cp "$tmp/user.pub" "$tmp/authorized"
	chmod 600 "$tmp/authorized"
	cat >"$tmp/sshd_config" <<-END
		Port 22
		HostKey $tmp/key
		AuthorizedKeysFile $tmp/authorized
		PermitRootLogin yes
		StrictModes no
		UsePAM no
		PidFile none
		MaxStartups 200
		PrintMotd no
	END
	cat >"$tmp/ssh_config" <<-END
		IdentityFile $tmp/user
		UserKnownHostsFile $tmp/known
		GlobalKnownHostsFile /dev/null
		BatchMode yes
		LogLevel ERROR
		User root
	END
	ssh=(ssh -F "$tmp/ssh_config")
}
keys

# host_start NAME NUMBER COMMAND...: a host at 127.77.0.NUMBER on which a command
# runs; wait until its sshd listens.
host_start() {
	local name=$1 number=$2
	shift 2
	cat >>"$tmp/ssh_config" <<-END
		Host $name
		HostName 127.77.0.$number
	END
	echo "127.77.0.$number $(cat "$tmp/key.pub")" >>"$tmp/known"
	# shellcheck disable=SC2016 # the inner shell's
	start "$name" unshare -mpf --kill-child --mount-proc bash -c '
		mount -t tmpfs run /run && mkdir -m 755 /run/sshd
		"${@:4}" </dev/null >/dev/null 2>&1 &
		exec "$1" -D -e -f "$2" -o "ListenAddress=$3" 2>&1' - \
	    "$sshd" "$tmp/sshd_config" "127.77.0.$number" "$@"
	line "$name" 'Server listening on'
}

# The host is gone at once.
host_kill() {
	local fd=${out[$1]}
	kill -KILL "${pid[$1]}"
	wait "${pid[$1]}" 2>/dev/null
	exec {fd}<&-
	unset "pid[$1]" "out[$1]"
}
