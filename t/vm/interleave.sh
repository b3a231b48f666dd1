#!/bin/sh
# Two writers and the reader of their lanes, in every order of their steps.
B=${B:-build}
exec "$B/vm/interleave"
