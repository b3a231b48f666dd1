#!/bin/sh
# Two writers and the reader of their lanes under ThreadSanitizer, which finds
# no room for itself where addresses are too random.
B=${B:-build}
exec setarch -R "$B/vm/threads"
