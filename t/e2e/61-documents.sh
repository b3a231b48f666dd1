#!/bin/bash
# timeout: 600
# The commands of README and tutorial do what these say; t/documents.py tells how
# that is compared.  Those of the cookbook have tests of their own, 61-cookbook-*.
. "${0%/*}/lib.sh"
need_attach
need cc

for document in README.md doc/tutorial.md; do
	t/documents.py "$tmp/${document##*/}" "$document" || wrong "$document"
done

# Each section of the cookbook has its test.
t/documents.py --list doc/cookbook.md >"$tmp/sections"
while read -r section; do
	grep -qF "'$section'" t/e2e/61-cookbook-*.sh ||
	    wrong "no test for section $section of the cookbook"
done <"$tmp/sections"
finish
