#!/bin/bash
# timeout: 3600
# guardian-window.sh [KILLS [LOAD]...]: how long text of a program is not its
# own after the tracer's death; see window.py.  Without load and with one of 20.
# Measured and printed: what must hold is that it is restored at all.
. "${0%/*}/lib.sh"
need python3
need_attach
[ -r "/proc/$$/task/$$/children" ] || skip "no CONFIG_PROC_CHILDREN"
kills=${1:-${torture:+50}}
shift
[ $# -gt 0 ] || set -- 0 ${torture:+20}
export DTRAP B
for load; do
	python3 -B t/torture/window.py "${kills:-5}" "$load" ||
		wrong "text is not restored, or the program has died"
done
finish
