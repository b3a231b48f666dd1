#!/bin/bash
# timeout: 14400
# mixed.sh [COUNT [SEED [TIMES]]]: everything that may go wrong at once.  The
# tracer, its guardian, or both are killed or stopped, at some moment of
# attaching, tracing or letting go; the next one comes at once or later, once or
# three times; standard descriptors are closed; the program asks for SIGTRAP's
# action, blocks, ignores, handles or changes it, forks, opens libraries; probes
# of each kind; attached or launched; a load of 20.  Afterwards, a clean trace:
# the program works and ends as its own, and nothing in it is another's.
#
# mixed.py draws the rounds, ordeal.py is one.  `mixed.py one SEED' runs one
# again, `mixed.py shrink SEED' looks for what it takes.
#
# TORTURE=1: 2,000 rounds, with each pair of conditions 20 times.
. "${0%/*}/lib.sh"
need python3
need_attach
[ -r "/proc/$$/task/$$/children" ] || skip "no CONFIG_PROC_CHILDREN"
# What is still lost stands in doc/safety.md: until that is mended, only who asks
# for rounds gets them.
[ $# -gt 0 ] || [ -n "$torture" ] || skip "only in the long form, or with a count"
rounds=${1:-2000}
times=${3:-${torture:+20}}
export DTRAP B
python3 -B t/torture/mixed.py "$rounds" "${2:-$SEED}" "${times:-0}" ||
	wrong "a program was not as before"
finish
