#!/bin/bash
# t/run fails where a test is skipped for a reason that is not in t/skips.txt, and
# each line of that list is about a test that exists.
. "${0%/*}/lib.sh"

runs() {
	env -u ELSEWHERE "${@:2}" t/run -j 1 "$1" >"$tmp/out" 2>&1
	status=$?
}

printf '#!/bin/sh\necho "no such day"\nexit 77\n' >"$tmp/day.sh"
printf '#!/bin/sh\necho "python9 is not installed"\nexit 77\n' >"$tmp/python.sh"
chmod +x "$tmp"/*.sh

runs "$tmp/day.sh"
is "status of a skip that is not listed" "$status" 1
has "$tmp/out" '^FAIL .*day.sh \(skipped, and t/skips.txt does not allow it\)$'
has "$tmp/out" '^0 passed, 1 failed$'
runs "$tmp/day.sh" ELSEWHERE=1
has "$tmp/out" '^0 passed, 1 failed$'
runs "$tmp/python.sh"
has "$tmp/out" '^0 passed, 1 failed$'
runs "$tmp/python.sh" ELSEWHERE=1
has "$tmp/out" '^skip .*python.sh \(python9 is not installed\)$'
runs t/unit/no_ctf.sh
has "$tmp/out" '^skip t/unit/no_ctf.sh \(built without CTF\)$'
has "$tmp/out" '^0 passed, 0 failed, 1 skipped$'

while IFS='|' read -r when tests line why; do
	case $when in
	"always " | "elsewhere ") ;;
	*) wrong "t/skips.txt: '$when' is neither always nor elsewhere" ;;
	esac
	[ -n "$why" ] || wrong "t/skips.txt: four fields:$tests"
	compgen -G "${tests// /}" >/dev/null || wrong "t/skips.txt: no test is$tests"
done < <(grep -v -e '^#' -e '^$' t/skips.txt)
finish
