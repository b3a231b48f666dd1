#!/bin/bash
# Memory and rights that are not as others', traced and untraced.
# shellcheck source=SCRIPTDIR/behave.sh
. "${0%/*}/behave.sh"
need_attach

behaviours memory limits
finish
