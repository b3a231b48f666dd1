#!/bin/sh
# A writer and a reader of one lane, in every order of their steps.
B=${B:-build}
exec "$B/vm/interleave"
