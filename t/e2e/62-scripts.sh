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
finish
