#!/bin/bash
# timeout: 600
# What the cookbook says of compiled programs and locks.
. "${0%/*}/cookbook.sh"
need go rustc g++
cookbook 'Go' 'Rust' 'C and C++' 'Locks'
