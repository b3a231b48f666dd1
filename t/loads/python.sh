#!/bin/bash
# timeout: 20000
# Python's own tests, a module at a time: the same outcome of the same tests.  T= for
# some of them.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
python=/usr/bin/python3
[ -f "$("$python" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')/test/test_json/__init__.py" ] ||
    skip "python's test suite is not installed"
# What the run of a test takes, and where, is no outcome, nor is in which order threads
# say what they do.
FILTER='s/[0-9.]+ ?(ms|sec|s|min)\b/TIME/g; s/0x[0-9a-f]+/ADDRESS/g; /^0:0|load avg|^Ran |tempfile|Using random seed|<thread [0-9]|tasks are running|^[0-9 ]*$/d'
export PYTHONDONTWRITEBYTECODE=1
cd "$tmp" || exit 2

# A limit of time that a test sets itself is for a program that nobody traces; one of
# CPython's waits for ever where its limit passes before it begins.
tests() { # MODULE
	"$python" - "test.test_$1" <<'PY'
import sys, unittest
def ids(suite):
    for t in suite:
        if isinstance(t, unittest.TestSuite):
            yield from ids(t)
        else:
            yield t.id()
for i in ids(unittest.defaultTestLoader.loadTestsFromName(sys.argv[1])):
    if "time" not in i.lower():
        print(i)
PY
}

for module in ${T:-json gc signal asyncio threading subprocess}; do
	mapfile -t ids < <(tests "$module")
	[ "${#ids[@]}" -gt 0 ] || fail "no tests of $module"
	command_load "python: $module" "$python" -m unittest -v "${ids[@]}"
done
finish
