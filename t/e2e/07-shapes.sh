#!/bin/bash
# One program in many shapes: the same calls are seen in each.
. "${0%/*}/lib.sh"

shapes='pie nopie static static-pie cet frame o0 debuglink debugdata stripped'
[ -x "$bin/shape-musl" ] && shapes="$shapes musl"
for shape in $shapes; do
	# shellcheck disable=SC2016
	dt -q -o "$tmp/$shape" -n '
		pid$target:a.out:work:entry { @n = count(); @args = sum(arg0); }
		pid$target:a.out:work:return { @r = count(); @vals = sum(arg1); }
		END {
			printa("entry %@d ", @n); printa("args %@d ", @args);
			printa("return %@d ", @r); printa("values %@d\n", @vals);
		}' -c "$bin/shape-$shape"
	is "$shape: status" "$status" 0
	has "$tmp/out" '^calls 100 sum 328350$'
	is "$shape" "$(head -n 1 "$tmp/$shape")" \
	    "entry 100 args 4950 return 100 values 328350"
done

# Nothing to go by at all: said clearly.
cp "$bin/shape-static" "$tmp/bare"
strip -s "$tmp/bare"
# shellcheck disable=SC2016
dt -n 'pid$target:a.out:work:entry { trace(1); }' -c "$tmp/bare"
is "without symbols: status" "$status" 1
has "$tmp/err" '^dtrap: '
finish
