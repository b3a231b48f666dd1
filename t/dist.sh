#!/bin/sh
# The tarball of a release: what git has of $REV, in dtrap-$VERSION/, the same
# bytes wherever and whenever it is made.
#
#	VERSION=0.1 REV=v0.1 t/dist.sh FILE.tar.gz
#
# The version of the Makefile, of debian/changelog and, of a tag, of NEWS must be
# one.
set -u
: "${VERSION:?}" "${REV:?}"
cd "$(dirname "$0")/.." || exit 2

die() {
	echo "dist: $*" >&2
	exit 1
}

at() {
	git show "$commit:$1" || die "no $1 in $REV"
}

git rev-parse --git-dir >/dev/null 2>&1 ||
    die "this is no checkout; of an unpacked tarball, dpkg-buildpackage -b makes the package"
commit=$(git rev-parse -q --verify "$REV^{commit}") ||
    die "no $REV here: tag a release (git tag -a), or say REV=HEAD"

version=$(at Makefile | sed -n 's/^VERSION := //p')
[ "$version" = "$VERSION" ] || die "$REV is version $version, not $VERSION"
deb=$(at debian/changelog | sed -n '1s/.*(\(.*\)).*/\1/p')
[ "$deb" = "$VERSION" ] || die "debian/changelog of $REV begins with $deb, not $VERSION"
if git rev-parse -q --verify "refs/tags/$REV" >/dev/null; then
	news=$(at NEWS | grep -B 1 -m 1 '^---' | head -n 1)
	[ "$news" = "$VERSION" ] || die "NEWS of $REV begins with '$news', not $VERSION"
else
	[ -z "$(git status --porcelain --untracked-files=no)" ] ||
	    echo "dist: what is not committed is left out" >&2
fi

# gzip -n: without the date.  The owner, the order and the times are git's, and
# its umask is said.
mkdir -p "$(dirname "$1")"
git -c tar.umask=0022 archive --format=tar --prefix="dtrap-$version/" "$commit" |
    gzip -9n >"$1.new" || die "cannot write $1"
mv "$1.new" "$1"
echo "$1: $(git describe --always --tags "$commit")"
