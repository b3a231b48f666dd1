#!/bin/sh
# Two writers and a reader of the same store under ThreadSanitizer, which finds
# no room for itself where addresses are too random.
B=${B:-build}
exec setarch -R "$B/vm/threads"
