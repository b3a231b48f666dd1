#!/bin/bash
# timeout: 400
# What programs do with signals, faults and timers, traced and untraced.
# shellcheck source=SCRIPTDIR/behave.sh
. "${0%/*}/behave.sh"
need_attach

behaviours signals faults timers
finish
