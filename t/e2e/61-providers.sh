#!/bin/bash
# timeout: 300
# The commands of doc/providers.md do what it says.
. "${0%/*}/lib.sh"
need_attach
need java javac node
for made in dtrap-sdt.jar dtrap_sdt-*.whl dtrap-sdt-*.tgz; do
	# shellcheck disable=SC2086 # a pattern
	ls "$B"/$made >"$tmp/made" 2>&1 || skip "what makes $made is not installed"
done
/usr/bin/python3 -m pip --version >"$tmp/pip" 2>&1 || skip "python3-pip is not installed"
t/documents.py "$tmp/tree" doc/providers.md || fail "doc/providers.md"
