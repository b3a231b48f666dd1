#!/bin/bash
# timeout: 900
# Probes that a Node program makes while it runs.
. "${0%/*}/provider.sh"
node=${NODE:-$(command -v node || command -v nodejs)}
[ -n "$node" ] || skip "node is not installed"
package=$(echo "$B"/dtrap-sdt-*.tgz)
[ -f "$package" ] || skip "libnode-dev is not installed"
# As npm installs it.
mkdir -p "$tmp/node_modules/dtrap-sdt"
tar -xzf "$package" -C "$tmp/node_modules/dtrap-sdt" --strip-components=1 ||
    fail "tar"
if command -v npm >/dev/null; then
	mkdir "$tmp/by-npm"
	echo '{}' >"$tmp/by-npm/package.json"
	(cd "$tmp/by-npm" && npm install --offline --no-audit \
	    --no-fund --cache "$tmp/npm" "$OLDPWD/$package") >"$tmp/npm.err" 2>&1 ||
	    fail "npm"
	diff -r "$tmp/by-npm/node_modules/dtrap-sdt" "$tmp/node_modules/dtrap-sdt" ||
	    wrong "npm installs something else"
fi
cp "$src/fires.js" "$tmp"
run=("$node" --expose-gc "$tmp/fires.js")

FUNCTION=sold TYPE=int64_t fires_everywhere "${run[@]}"
seen_in_loop "${run[@]}"
refused 'RangeError: bad name or type, or no provider
RangeError: bad name or type, or no provider
RangeError: bad name or type, or no provider
RangeError: too many arguments: a probe has at most 12
TypeError: no type of an argument: object
RangeError: bad name or type, or no provider
RangeError: the provider has a probe of this function and name
Error: the provider is loaded: unload it first
Error: the provider is loaded: unload it first' "${run[@]}"
# shellcheck disable=SC2016 # D
typed "+ 1 -1 65535 -2 -3 -9223372036854775808 -4 10000000000 té 茶 🍵
+ none
+ no text
+ 
+ $(printf 'x%.0s' {1..5000})
+ by a function
+ {\"a\":[1,\"two\"]}
+ 0 0 5 0 0 0 0 0 no text
+ once more" '
types$target:::all {
	printf("+ %d %d %d %d %d %d %d %d ", arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7);
	printf("%s\n", arg8 == 0 ? "no text" : copyinstr(arg8)); }
types$target:::none { printf("+ none\n"); }
types$target:::text, types$target:::json {
	printf("+ %s\n", arg0 == 0 ? "no text" : copyinstr(arg0)); }' "${run[@]}"
has "$tmp/out" '^enabled true$'
has "$tmp/out" '^enabled false$'
dropped "${run[@]}"
finish
