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
export DTRAP B

# The first three rounds are killed at a step; which one it is changes with the steps
# that there are.
if [ $# -eq 0 ] && [ -z "$torture" ]; then
	for round in 3486759796 1668748295 2550994981; do
		python3 -B t/torture/mixed.py one $round load=0 ||
		    wrong "round $round: a program was not as before"
	done
	for conduct in nothing asks ignores handles blocked changes; do
		FIX="sigtrap=$conduct load=0" python3 -B t/torture/mixed.py 4 1 ||
		    wrong "$conduct: a program was not as before"
	done
else
	times=${3:-${torture:+20}}
	python3 -B t/torture/mixed.py "${1:-2000}" "${2:-$SEED}" \
	    "${times:-0}" || wrong "a program was not as before"
fi
finish
