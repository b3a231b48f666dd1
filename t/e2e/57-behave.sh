#!/bin/bash
# Behaviours of t/e2e/src/behave/ that concern jumps, under option fastpath: frames and
# contexts that are left in other ways than by a return, threads that end within a call,
# how processes are made, faults, memory and rights.
# shellcheck source=SCRIPTDIR/behave.sh
. "${0%/*}/behave.sh"
need_attach
export DTRACE_OPT_FASTPATH=on

behave_alike longjmps coroutines unwinds sequences libraries cancels \
    vforks thread-forks thread-exec segv overflow own-steps altstack jumps \
    anonymous-text writable-text sealed-text strict jailed
finish
