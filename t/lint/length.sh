#!/bin/sh
# A file past 1,000 lines has a seam somewhere.
cd "$(dirname "$0")/../.." || exit 2
find dlang disasm symbols inject sdt tracer t -name '*.[chlyS]' \
    -exec wc -l {} + 2>/dev/null | awk '$2 != "total" && $1 > 1000 {
	print $2 ": " $1 " lines"
	bad = 1
}
END { exit bad }'
