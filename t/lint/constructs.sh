#!/bin/sh
# Every construct of constructs.txt has its tests, and every test named there
# is there.
cd "$(dirname "$0")/../.." || exit 2
bad=0

complain() {
	echo "constructs: $1"
	bad=1
}

lines=$(grep -c '^[^#]' t/lint/constructs.txt)
[ "$lines" -gt 0 ] || complain "there are none"
while IFS= read -r line; do
	case $line in '#'* | '') continue ;; esac
	tests=${line#*	}
	if [ "$tests" = "$line" ] || [ -z "$tests" ]; then
		complain "no test: $line"
	fi
	for t in $tests; do
		case $t in
		[0-9]*) file=t/e2e/$t.sh ;;
		test_*) file=t/unit/$t.c ;;
		*) file=t/d/$t.d ;;
		esac
		[ -f "$file" ] || complain "$file is not there: ${line%%	*}"
	done
done <t/lint/constructs.txt
exit $bad
