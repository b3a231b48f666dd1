#!/bin/bash
# Scripts: run by the kernel, with arguments, with their name in messages.
. "${0%/*}/lib.sh"

cat >"$tmp/hello.d" <<EOF
#!$DTRAP -qs
BEGIN
{
	printf("hello %s\n", \$\$1);
	exit(0);
}
EOF
chmod +x "$tmp/hello.d"
"$tmp/hello.d" world >"$tmp/out" 2>"$tmp/err" </dev/null
is "status" "$?" 0
has "$tmp/out" '^hello world$'

cat >"$tmp/count.d" <<'EOF'
#pragma D option quiet
pid$target:a.out:work:entry { @ = count(); }
END { printa("%@d calls\n", @); }
EOF
dt -s "$tmp/count.d" -c "$bin/threads 500"
has "$tmp/out" '^500 calls$'

printf 'BEGIN { exit(0); }\nEND { }\n' >"$tmp/two.d"
dt -s "$tmp/two.d"
is "matched" "$(cat "$tmp/err")" "dtrap: script '$tmp/two.d' matched 2 probes"

# Several programs share globals.
dt -q -n 'BEGIN { x = 5; }' -n 'BEGIN { printf("%d\n", x); exit(0); }'
has "$tmp/out" '^5$'

# The preprocessor: an include beside the script, -D, line numbers in errors.
echo '#define SEVEN 7' >"$tmp/seven.h"
cat >"$tmp/cpp.d" <<'EOF'
#!/usr/bin/dtrap -Cs
#include "seven.h"
#ifdef GIVEN
BEGIN { printf("%d %d\n", SEVEN, GIVEN); exit(0); }
#else
BEGIN { trace(nosuch); }
#endif
EOF
dt -C -q -D GIVEN=3 -s "$tmp/cpp.d"
is "-C: status" "$status" 0
has "$tmp/out" '^7 3$'
dt -C -q -s "$tmp/cpp.d"
is "-C, error: status" "$status" 1
has "$tmp/err" 'line 6: .*nosuch'
hasnt "$tmp/err" '"'
# After an include the lines are the script's own again.
printf '#include "seven.h"\n#include "seven.h"\n\nBEGIN { trace(nosuch); }\n' \
	>"$tmp/inc.d"
dt -C -s "$tmp/inc.d"
has "$tmp/err" 'inc.d: line 4: .*nosuch'
# Several arguments in one option, and those of several options.
dt -C -q -x cppargs='-DGIVEN=3 -H' -x cppargs=-DOTHER -s "$tmp/cpp.d"
is "cppargs: status" "$status" 0
has "$tmp/out" '^7 3$'
has "$tmp/err" '^\. .*seven.h$'
printf '#if 1\nBEGIN { exit(0); }\n' >"$tmp/open.d"
dt -C -s "$tmp/open.d"
is "cpp fails: status" "$status" 1
has "$tmp/err" "^$tmp/open.d:1: error:.*#if"
has "$tmp/err" 'open.d: Preprocessor failed to process input program$'
dt -C -x cpppath="$tmp/no-cpp" -s "$tmp/cpp.d"
is "no preprocessor: status" "$status" 1
has "$tmp/err" '^dtrap: .*Preprocessor not found'
finish
