#!/bin/sh
# The tree speaks of no one machine: neither of the folder it lies in here nor
# of anyone's home.
cd "$(dirname "$0")/../.." || exit 2
out=$(find . \( -name .git -o -name 'build*' \) -prune -o \
    -type f ! -name dtrap ! -path ./t/lint/paths.sh -print0 |
    xargs -0 grep -InE -e "(^|[^A-Za-z0-9_.])/(home|work|root|Users)/" \
	-e "(^|[^A-Za-z0-9_.])$PWD/")
[ -z "$out" ] && exit 0
echo "$out"
exit 1
