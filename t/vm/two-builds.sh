#!/bin/sh
# One corpus of programs through both builds of the machine, the hosted one and
# the freestanding one of the in-process agent: records are the same byte for
# byte.
B=${B:-build}
exec "$B/vm/corpus" "$B/agent/blob"
