#!/bin/bash
# timeout: 300
# git status, log and diff in a small repository of our own.
. "${0%/*}/lib.sh"
need git

export HOME=$tmp GIT_CONFIG_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
repo=$tmp/repo
git init -q "$repo" 2>/dev/null || fail "git init"
for i in 1 2 3 4 5 6 7 8; do
	seq 1 $((i * 10)) >"$repo/file$i"
done
git -C "$repo" add . || fail "git add"
git -C "$repo" commit -q -m first || fail "git commit"
seq 5 60 >"$repo/file3"
echo new >"$repo/untracked"
git -C "$repo" rm -q file7

# shellcheck disable=SC2016
{
LIMIT=130
same_traced 'pid$target:libc::entry,pid$target:a.out::entry' git -C "$repo" status
same_traced 'pid$target:libc::entry,pid$target:libz*::return' git -C "$repo" diff --stat
same_traced 'pid$target:libc:*:return' git -C "$repo" --no-pager log -p
}
finish
