#!/bin/sh
# Compiled clauses beside the interpreter: generated ones, and those of the D
# programs of t/d/.  `make jit' does more of the first.
B=${B:-build}
exec "$B/vm/compiled" "${N:-5000}" "${SEED:-1}" t/d/*/*.d
