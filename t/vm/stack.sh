#!/bin/sh
# The stack that a hit inside a target takes is bounded, and fits into a lane's.
B=${B:-build}
set -- "$B"/agent/*/*/*.ci "$B"/agent/*/*/*/*.ci
[ -e "$1" ] || { echo "no call graph: the compiler writes none"; exit 77; }
grep -Eq '^#define LANE_STACK +16384$' dlang/vm/store.h || exit 1
exec python3 t/vm/stack.py "$@"
