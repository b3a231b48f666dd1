#!/bin/bash
# What a report takes: of a saved run of $RECORDS records with $KEYS keys in each of
# three aggregations, and of one that is traced; and whether a browser opens both.
# shellcheck disable=SC2016 # D, not shell
. "${0%/*}/lib.sh"
RECORDS=${RECORDS:-10000000}
KEYS=${KEYS:-100000}

# opens HTML: how many megabytes it has, and what the browser says of it.
opens() {
	du -k "$1" | awk '{ printf "%.1f MB of HTML\n", $1 / 1024 }'
	command -v chromium >/dev/null || { echo "no chromium"; return; }
	python3 t/bench/report.py measure \
	    python3 t/formats/report.py "$tmp/profile" opens "$1"
}

echo
echo "dtrap report, $RECORDS records, $KEYS keys"
python3 t/bench/report.py write "$RECORDS" "$KEYS" |
    python3 t/bench/report.py measure "$DTRAP" report -o "$tmp/saved.html" -
opens "$tmp/saved.html"
echo
echo "-x report, $RECORDS records, $KEYS keys"
python3 t/bench/report.py measure "$DTRAP" -q -b 64m -o /dev/null \
    -x report="$tmp/live.html" -n 'pid$target:a.out:hot_push:entry {
	@k[arg0 % $1] = count(); @q = quantize(arg0); trace(arg0); }' \
    -c "$(printf '%q ' "$hot") $RECORDS push" "$KEYS"
opens "$tmp/live.html"
