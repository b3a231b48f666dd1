# shellcheck shell=bash
# Read by the tests of sections of doc/cookbook.md.
. "${BASH_SOURCE[0]%/*}/lib.sh"
need_attach

# cookbook SECTION...: run what it says there, and compare.
cookbook() {
	t/documents.py "$tmp/tree" doc/cookbook.md "$@" ||
	    fail "doc/cookbook.md"
}

# cookbook_server SECTION: the same, with a server of the test, which is not below
# $tmp: nginx and PostgreSQL are not root.
cookbook_server() {
	EXAMPLES=$(mktemp -d /tmp/dtrap-examples.XXXXXX) || fail "no directory"
	chmod 755 "$EXAMPLES"
	export EXAMPLES
	trap 's=$?; rm -rf "$EXAMPLES"; (exit $s); cleanup' EXIT
	cookbook "$@"
}
