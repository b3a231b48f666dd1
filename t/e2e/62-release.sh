#!/bin/bash
# make dist: the tarball of a release is the same bytes wherever it is made, and
# is refused where the places that name the version do not agree.
. "${0%/*}/lib.sh"
need git tar gzip
git rev-parse -q --verify HEAD >/dev/null 2>&1 || skip "this is no checkout"

export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org
export GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org
export GIT_CONFIG_GLOBAL=$tmp/gitconfig
: >"$GIT_CONFIG_GLOBAL"
version=$(sed -n 's/^VERSION := //p' Makefile)

# A project of what is asked for, with the script as it is here.
mkdir -p "$tmp/here/t" "$tmp/here/debian"
cp t/dist.sh "$tmp/here/t/"
cp debian/changelog "$tmp/here/debian/"
cp Makefile "$tmp/here/"
cd "$tmp/here" || fail "no $tmp/here"
printf 'News\n\nUnreleased\n----------\n' >NEWS
git init -q . && git add -A && git commit -qm one

# dist REV [VERSION]: $status, $tmp/out, $tmp/err
dist() {
	REV=$1 VERSION=${2:-$version} t/dist.sh "$tmp/$PWD.tar.gz" \
	    >"$tmp/out" 2>"$tmp/err"
	status=$?
}

mkdir -p "$tmp/$tmp"
dist "v$version"
is "no tag: status" "$status" 1
has "$tmp/err" "no v$version here: tag a release"
dist HEAD
is "HEAD: status" "$status" 0
dist HEAD 99.9
is "another version: status" "$status" 1
has "$tmp/err" "HEAD is version $version, not 99.9"
git tag "v$version"
dist "v$version"
is "unreleased: status" "$status" 1
has "$tmp/err" "NEWS of v$version begins with 'Unreleased', not $version"
printf 'News\n\n%s\n---\n' "$version" >NEWS
git commit -qam two && git tag -f "v$version" >/dev/null 2>&1
dist "v$version"
is "tag: status" "$status" 0

# The same in a clone, with another umask and another day in its files.
git clone -q "$tmp/here" "$tmp/there"
cd "$tmp/there" || fail "no clone"
chmod -R go-rwx . && find . -name NEWS -exec touch -d '2001-01-01' {} +
git config tar.umask 0077
umask 077
dist "v$version"
is "clone: status" "$status" 0
cmp "$tmp/$tmp/here.tar.gz" "$tmp/$tmp/there.tar.gz" || wrong "they differ"
tar -tzf "$tmp/$tmp/there.tar.gz" >"$tmp/list"
has "$tmp/list" "^dtrap-$version/t/dist.sh\$"

# What is not committed is not in it, and that is said.
echo more >>NEWS
dist HEAD
has "$tmp/err" 'what is not committed is left out'
sed -i '1s/(.*)/(0.0)/' debian/changelog && git commit -qam three
dist HEAD
is "changelog: status" "$status" 1
has "$tmp/err" "debian/changelog of HEAD begins with 0.0"
finish
