#!/bin/bash
# The web site of the documents and the manual: every link leads somewhere.
. "${0%/*}/lib.sh"
need cmark-gfm mandoc
t/site.py "$tmp/site" tracer/dtrap.1 tracer/plockstat.1 "$B"/man/*.7 || fail links
[ -s "$tmp/site/index.html" ] || fail "no index"
[ -s "$tmp/site/bytes.svg" ] || fail "no picture"
finish
