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
# say what they do, nor whether a child has ended before asyncio has written to it.
FILTER='s/ \.\.\. (ok|Future exception was never retrieved)$/ .../; s/[0-9.]+ ?(ms|sec|s|min)\b/TIME/g; s/0x[0-9a-f]+/ADDRESS/g; /^0:0|load avg|^Ran |tempfile|Using random seed|<thread [0-9]|^ok$|^(future: <Future finished exception=BrokenPipe|BrokenPipeError)|tasks are running|^[0-9 ]*$/d'
export PYTHONDONTWRITEBYTECODE=1
cd "$tmp" || exit 2

# The tests of asyncio have more names than fit into one argument of a program, as
# which dtrap gets the command.
cat >"$tmp/tests.py" <<'PY'
import sys, unittest
with open(sys.argv[1]) as names:
    unittest.main(module=None, argv=["tests", "-v", *names.read().split()])
PY

# A limit of time that a test sets itself is for a program that nobody traces; one of
# CPython's waits for ever where its limit passes before it begins.  A text of
# documentation is a test as well, and has no name by which it could be run.
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
    if i.startswith("test.") and "time" not in i.lower():
        print(i)
PY
}

for module in ${T:-json gc signal asyncio threading subprocess}; do
	tests "$module" >"$tmp/ids"
	[ -s "$tmp/ids" ] || fail "no tests of $module"
	command_load "python: $module" "$python" "$tmp/tests.py" "$tmp/ids"
done
finish
