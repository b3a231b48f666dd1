#!/bin/bash
# Debian's package, built and used in a bare Debian, and what `make deps' leaves
# of servers there.  `make check-package' calls it: as root, with a mirror of
# Debian in reach, some minutes.
#
#	DEB="FILE.deb ..." B=build t/package.sh [build|package|deps]
#
# A root file system is made once ($B/package/root.tar), by what is in /etc/apt,
# and unpacked for each test.  What runs in one has its own processes and mounts,
# which end with it.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 2
B=${B:-build}
logs=$B/package base=$B/package/root.tar
mkdir -p "$logs"
export LC_ALL=C DEBIAN_FRONTEND=noninteractive

[ "$(id -u)" = 0 ] || { echo "t/package.sh: needs root, for chroot"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/dtrap-package.XXXXXX") || exit 2
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM HUP
failures=0

wrong() {
	echo "WRONG: $*"
	failures=$((failures + 1))
}

if [ ! -s "$base" ]; then
	# shellcheck disable=SC1091 # there is one everywhere
	suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
	sources=()
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/debian*; do
		[ -s "$f" ] && sources+=("$f")
	done
	mmdebstrap --quiet --variant=minbase "$suite" "$work/root.tar" \
	    "${sources[@]}" ||
	    { echo "t/package.sh: no bare Debian can be made"; exit 1; }
	mv "$work/root.tar" "$base"
fi

# unpack NAME: a root of its own, "$work/NAME".
unpack() {
	mkdir "$work/$1"
	tar -xf "$base" -C "$work/$1"
	cp -L /etc/resolv.conf /etc/hosts "$work/$1/etc/"
	cp -r .ci "$work/$1/ci"
}

# inside NAME: what is read, run there by bash; its status.
inside() {
	cat >"$work/$1/test.sh"
	# Who runs this in the background has it ignore SIGINT, which a shell
	# cannot undo.
	# shellcheck disable=SC2016 # by the other shell
	env --default-signal=INT,QUIT unshare --mount --pid --fork --kill-child -- sh -c '
		mount -t proc proc "$1/proc" && cd / &&
		exec chroot "$1" /bin/bash -u /test.sh' sh "$work/$1" </dev/null
}

# All files but those that apt and dpkg write for themselves.
tree() {
	(cd "$work/$1" && find . \( -path ./proc -o -path ./dev -o -path ./tmp \
	    -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt \
	    -o -path ./var/lib/dpkg -o -path ./etc/ld.so.cache \
	    -o -path ./test.sh -o -path ./debs \) -prune -o \
	    \( -type f -printf '%p %m ' -exec md5sum {} \; \) -o \
	    \( -type l -printf '%p %l\n' \) -o -printf '%p\n' | sort)
	# What dpkg knows of.
	sed -n 's/^Package: //p' "$work/$1/var/lib/dpkg/status" | sort
	find "$work/$1/var/lib/dpkg/info" -name '*dtrap*'
}

# ---- the source, with what it says that it needs and nothing else ----

# What is in a package, and what that depends on.
contents() {
	dpkg-deb -c "$1" | awk '{ $3 = $4 = $5 = ""; print }'
	dpkg-deb -f "$1" Depends
}

test_build() {
unpack build
mkdir "$work/build/debs"
cp "$B"/deb/*.dsc "$B"/deb/*.tar.xz "$work/build/debs/"
inside build <<'INSIDE' >"$logs/build.log" 2>&1 || wrong "the build: $?"
fail() { echo "FAIL: $*"; exit 1; }
apt-get -q update
apt-get -y -q --no-install-recommends install build-essential
apt-get -y -q --no-install-recommends build-dep /debs/*.dsc ||
    fail "what it needs to be built cannot be had"
cd /debs && dpkg-source -x ./*.dsc source && cd source || fail "no source"
# Tests were run when it was built outside.
DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" dpkg-buildpackage -us -uc -b ||
    fail "does not build"
INSIDE
for f in $DEB; do
	case $f in *-dbgsym_*) continue ;; esac # is named after the build
	contents "$f" >"$work/outside"
	contents "$work/build/debs/${f##*/}" >"$work/inside"
	diff "$work/outside" "$work/inside" ||
	    wrong "another package comes of it: ${f##*/}"
done
}

# ---- the package ----

test_package() {
unpack package
mkdir "$work/package/debs"
# shellcheck disable=SC2086 # a list
cp $DEB "$work/package/debs/"
tree package >"$work/before"
inside package <<'INSIDE' >"$logs/package.log" 2>&1 || wrong "the package: $?"
fail() { echo "FAIL: $*"; exit 1; }
apt-get -q update
apt-get -y -q --no-install-recommends install bash-completion /debs/dtrap_*.deb \
    /debs/libdtrap-sdt1_*.deb /debs/libdtrap-sdt-dev_*.deb ||
    fail "does not install"
dtrap -V -v || fail "does not run"
as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
$as_nobody dtrap -q -n 'pid$target:libc:malloc:entry { @ = count(); }
    END { printa("malloc %@d\n", @); }' -c 'ls /' >/tmp/out || fail "traces nothing"
grep -q '^malloc [1-9]' /tmp/out || fail "no malloc: $(cat /tmp/out)"
$as_nobody dtrap-opensnoop -c 'cat /etc/hostname' >/tmp/out || fail dtrap-opensnoop
grep -q ' cat .* /etc/hostname$' /tmp/out || fail "no hostname: $(cat /tmp/out)"
for c in /usr/bin/dtrap*; do
	[ -x "$c" ] || fail "$c is no command"
	gzip -dc "/usr/share/man/man1/${c##*/}.1.gz" >/dev/null ||
	    fail "$c has no manual"
	. /usr/share/bash-completion/bash_completion
	__load_completion "${c##*/}"
	complete -p "${c##*/}" >/dev/null || fail "$c has no completion"
done
[ -f /usr/share/zsh/vendor-completions/_dtrap ] || fail "no completion for zsh"
for f in /usr/include/dtrap/dtrap-provider.h /usr/share/man/man3/dtrap-sdt.3.gz \
    /usr/lib/*/libdtrap-sdt.so /usr/lib/*/libdtrap-sdt.a \
    /usr/lib/*/pkgconfig/dtrap-sdt.pc; do
	[ -f "$f" ] || fail "no $f"
done
apt-get -y -q purge dtrap libdtrap-sdt1 libdtrap-sdt-dev bash-completion && apt-get -y -q --purge autoremove ||
    fail "cannot be removed"
INSIDE
tree package >"$work/after"
diff "$work/before" "$work/after" >"$logs/trace" ||
    wrong "the package leaves a trace: $(head -n 20 "$logs/trace")"

}

# ---- what make deps leaves ----

test_deps() {
unpack deps
inside deps <<'INSIDE' >"$logs/deps.log" 2>&1 || wrong "make deps: $?"
fail() { echo "FAIL: $*"; exit 1; }
policy=/usr/sbin/policy-rc.d
ls /etc/systemd/system/*.wants /etc/rc?.d >/tmp/before

# Ends of every kind, by an apt-get that is none.
mkdir /fake
cat >/fake/apt-get <<'FAKE'
#!/bin/bash
[ "${*: -2:1}" = install ] || exit 0
/usr/sbin/policy-rc.d ssh start
echo "$?" >/tmp/ssh
/usr/sbin/policy-rc.d hwclock.service start
echo "$?" >/tmp/hwclock
case ${*: -1} in
TERM | KILL | INT) kill -"${*: -1}" $PPID ;;
FAIL) exit 1 ;;
esac
FAKE
chmod +x /fake/apt-get
touch /etc/init.d/hwclock
for how in TERM INT FAIL WELL; do
	PATH=/fake:$PATH /ci/install $how && [ $how != WELL ] && fail "$how: status 0"
	[ ! -e $policy ] || fail "$how: policy-rc.d stays"
	[ ! -e /etc/postgresql-common ] || fail "$how: createcluster.d stays"
	[ "$(cat /tmp/ssh /tmp/hwclock)" = "101
0" ] || fail "$how: policy-rc.d says $(cat /tmp/ssh /tmp/hwclock)"
done
PATH=/fake:$PATH /ci/install KILL
[ -e $policy ] || fail "KILL: the next has nothing to do"
$policy ssh start || fail "KILL: policy-rc.d still forbids"
PATH=/fake:$PATH /ci/install WELL
[ ! -e $policy ] || fail "policy-rc.d of one that was killed stays"
# Somebody else's.
printf '#!/bin/sh\nexit 104\n' >$policy
chmod 755 $policy
PATH=/fake:$PATH /ci/install WELL
[ "$(cat $policy /tmp/ssh)" = '#!/bin/sh
exit 104
104' ] || fail "policy-rc.d of somebody else: $(cat $policy /tmp/ssh)"
rm $policy /etc/init.d/hwclock

# Real ones.
servers="nginx postgresql php-fpm redis-server"
/ci/deps $servers >/tmp/told || fail "make deps: $?"
cat /tmp/told
head -n 2 /tmp/told | grep -q "nginx.*postgresql" || fail "does not say what, first"
dpkg-query -W $servers >/dev/null || fail "not installed"
[ -x /usr/sbin/nginx ] && [ -x /usr/bin/redis-server ] || fail "no servers"
cat /proc/[0-9]*/comm >/tmp/running
grep -qx bash /tmp/running || fail "no process is seen"
grep -E 'nginx|postgres|php|redis' /tmp/running && fail "servers run"
[ ! -e $policy ] || fail "policy-rc.d stays"
[ -z "$(ls /etc/postgresql-common/createcluster.d)" ] || fail "createcluster.d"
[ -z "$(ls -A /var/lib/postgresql/*/main 2>/dev/null)" ] || fail "a cluster"
ls /etc/systemd/system/*.wants /etc/rc?.d >/tmp/after
diff /tmp/before /tmp/after | grep -E '^> .*(nginx|postgres|php|redis)' |
    grep -v '> K' && fail "servers are enabled"
ls /etc/rc3.d | grep -q 'K.*nginx' || fail "nginx is not known as disabled"
# One that was enabled before is so afterwards, and may be started.
update-rc.d nginx enable && PATH=/fake:$PATH /ci/install WELL
ls /etc/rc3.d | grep -q 'S.*nginx' || fail "nginx is disabled that was not"
# Nothing is missing: nothing is said.
[ -z "$(/ci/deps $servers)" ] || fail "says something of nothing"
INSIDE

}

for t in ${1:-build package deps}; do
	"test_$t"
	if grep -q '^FAIL' "$logs/$t.log"; then
		tail -n 30 "$logs/$t.log"
	fi
done
[ "$failures" = 0 ] || { echo "t/package.sh: all of it is in $logs"; exit 1; }
echo "passed: ${1:-build package deps}"
