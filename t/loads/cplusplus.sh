#!/bin/bash
# timeout: 3600
# Exceptions and cancelled threads, in C++.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
command_load c++ "$bin/cancels" 3000
finish
