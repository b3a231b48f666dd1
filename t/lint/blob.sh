#!/bin/sh
# Check the linked agent: no undefined symbol, no relocation but
# R_X86_64_RELATIVE, no segment writable and executable, no use of %fs (that
# would be thread-local storage or a stack guard), no vector register, no system
# call.
#
# usage: blob.sh build/agent/blob
set -u
blob=$1
bad=0

complain() {
	echo "blob: $1" >&2
	bad=1
}

[ -s "$blob" ] || { echo "blob: $blob: no such file" >&2; exit 1; }

undefined=$(nm -u "$blob")
[ -z "$undefined" ] || complain "undefined symbols: $undefined"

relocs=$(readelf -rW "$blob") || complain "readelf -r fails"
other=$(echo "$relocs" | grep -o 'R_X86_64_[A-Z0-9_]*' | sort -u |
    grep -v '^R_X86_64_RELATIVE$')
[ -z "$other" ] || complain "relocations: $other"
echo "$relocs" | grep -q R_X86_64_RELATIVE ||
    complain "no relocation at all: is the table of exports there?"

segments=$(readelf -lW "$blob")
echo "$segments" | grep -E '^ *LOAD' | grep -q 'RWE' &&
    complain "a segment is writable and executable"
[ "$(echo "$segments" | grep -cE '^ *LOAD')" = 2 ] ||
    complain "not two segments"
echo "$segments" | grep -q INTERP && complain "asks for an interpreter"

code=$(objdump -d --no-show-raw-insn "$blob") || complain "objdump fails"
fs=$(echo "$code" | grep -c '%fs')
[ "$fs" = 0 ] || complain "$fs uses of %fs"
vector=$(echo "$code" | grep -cE '%[xyz]mm[0-9]|%st|%mm[0-9]')
[ "$vector" = 0 ] || complain "$vector uses of vector or x87 registers"
calls=$(echo "$code" | grep -cE '\<(syscall|sysenter|int)\>')
[ "$calls" = 0 ] || complain "$calls system calls"

exit $bad
