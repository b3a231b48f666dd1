#!/bin/sh
# timeout: 1800
# random.sh [COUNT [SEED]]: random expressions, by dtrap and by the C compiler.
# TORTURE=1: 10,000 of them.
if ! command -v python3 >/dev/null; then
	echo "no python3"
	exit 77
fi
if ! command -v "${CC:-gcc}" >/dev/null; then
	echo "no C compiler"
	exit 77
fi
short=500
[ -z "${TORTURE:-}" ] || short=10000
exec python3 -B "${0%/*}/expressions.py" "${1:-$short}" "${2:-1}"
