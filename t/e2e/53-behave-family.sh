#!/bin/bash
# Processes and threads, how they are made and how they end, traced and
# untraced.
# shellcheck source=SCRIPTDIR/behave.sh
. "${0%/*}/behave.sh"
need_attach

behaviours family threads flow
# Exceptions of C++ through functions that are probed at every instruction.
# shellcheck disable=SC2016
same_traced 'pid$target:a.out::,pid$target:libstdc*:__cxa_*:entry' \
    "$bin/throws"
finish
