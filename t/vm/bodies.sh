#!/bin/sh
# Bodies of clauses beside the VM: generated clauses, and those of the D programs
# of t/d/.
B=${B:-build}
exec "$B/vm/bodies" "${N:-3000}" "${SEED:-1}" t/d/*/*.d
