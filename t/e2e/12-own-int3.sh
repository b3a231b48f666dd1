#!/bin/bash
# A program's own int3 is its own, also where a probe sits on it; so is a
# SIGTRAP that is sent to it; a fault is where the program has it.
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
{
same_traced 'pid$target:a.out:work:entry,pid$target:a.out:work:return' "$bin/own_int3"
is "hits" "$hits" 20
same_traced 'pid$target:a.out:work:,pid$target:a.out:on_trap:' "$bin/own_int3"
same_traced 'pid$target:a.out:trapped:entry,pid$target:a.out:main:' "$bin/own_int3"
# A SIGTRAP that is sent behind an instruction that is displaced is no hit.
same_traced 'pid$target:a.out:stop:entry' "$bin/trapmask" stray
is "stray: hits" "$hits" 3
# The address of a fault is that of the instruction, wherever it ran.
same_traced 'pid$target:a.out:divide:,pid$target:a.out:undefined:' \
    "$bin/trapmask" faults
}
finish
