#!/bin/sh
# Every tag of a diagnostic has a test: t/d/TOPIC/err.TAG.NAME.d, or the file
# that tags.txt names.  A line there that is no longer true is an error, too.
# One test of a tag compares the sentence (t/golden); so do all of t/d/mistakes,
# whose subject it is.
cd "$(dirname "$0")/../.." || exit 2
bad=0

complain() {
	echo "tags: $1"
	bad=1
}

golden() {
	set -- t/d/*/err."$1".*.d
	[ -f "$1" ]
}

given() {
	grep -rqw --include='*.[chly]' "$1" dlang tracer
}

while read -r tag; do
	where=$(awk -v t="$tag" '$1 == t { print $2 }' t/lint/tags.txt)
	case $where in
	'')
		golden "$tag" || complain "$tag has no test"
		;;
	-)
		golden "$tag" && complain "$tag has a test: not in tags.txt"
		given "$tag" && complain "$tag is given: it needs a test"
		;;
	*)
		golden "$tag" && complain "$tag has a test: not in tags.txt"
		grep -qsw "$tag" "$where" || complain "$tag is not in $where"
		;;
	esac
done <<EOF
$(sed -n 's/^DIAG_TAG(\(.*\))$/\1/p' dlang/base/diag_tags.def)
EOF
while read -r tag; do
	grep -q "^DIAG_TAG($tag)$" dlang/base/diag_tags.def ||
	    complain "$tag is in tags.txt and nowhere else"
done <<EOF
$(sed -n 's/^\(D_[A-Z0-9_]*\).*/\1/p' t/lint/tags.txt)
EOF
for file in t/d/*/err.*.d; do
	tag=${file##*/err.}
	tag=${tag%%.*}
	grep -q "^DIAG_TAG($tag)$" dlang/base/diag_tags.def ||
	    complain "$file: there is no tag $tag"
done
awk '
FNR == 1 {
	tag = FILENAME
	sub(/.*\/err\./, "", tag)
	sub(/\..*/, "", tag)
	whole = /^dtrap: /
	any[tag] += whole
	here[tag] += whole && FILENAME !~ /^t\/d\/mistakes\//
}
END {
	for (tag in any) {
		if (any[tag] == 0 || here[tag] > 1) {
			print "tags: " any[tag] " tests of " tag \
			    " compare its sentence"
			bad = 1
		}
	}
	exit bad
}' t/d/*/err.*.err || bad=1
exit $bad
