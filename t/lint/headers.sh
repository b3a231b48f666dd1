#!/bin/sh
# Every header compiles alone.
cd "$(dirname "$0")/../.." || exit 2
bad=0
for h in $(find dlang disasm symbols inject sdt tracer -name '*.h' 2>/dev/null | sort); do
	# What the parser generates exists only after a build.
	if ! echo "#include \"$h\"" | ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -I. \
	    -I"${B:-build}/gen" -Wall -Werror -fsyntax-only -x c -; then
		echo "$h does not compile alone"
		bad=1
	fi
done
exit $bad
