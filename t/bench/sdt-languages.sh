#!/bin/bash
# What a probe that nobody watches costs a program in Java, Python or Node, beside a
# line of its log whose level is off, with the same arguments.
. "${0%/*}/lib.sh"

src=$PWD/t/bench/sdt
jar=$PWD/$B/dtrap-sdt.jar
wheel=$(echo "$B"/dtrap_sdt-*.whl)
package=$(echo "$B"/dtrap-sdt-*.tgz)
node=$(command -v node || command -v nodejs)
kinds=()

if [ -f "$jar" ]; then
	javac -cp "$jar" -d "$tmp" "$src/Calls.java" && kinds+=(Java)
fi
if [ -f "$wheel" ]; then
	mkdir "$tmp/site"
	/usr/bin/python3 -m zipfile -e "$wheel" "$tmp/site" && kinds+=(Python)
	export PYTHONPATH=$tmp/site PYTHONDONTWRITEBYTECODE=1
fi
if [ -f "$package" ] && [ -n "$node" ]; then
	mkdir -p "$tmp/node_modules/dtrap-sdt"
	tar -xzf "$package" -C "$tmp/node_modules/dtrap-sdt" \
	    --strip-components=1 && kinds+=(Node)
	export NODE_PATH=$tmp/node_modules
fi
[ ${#kinds[@]} -gt 0 ] || { echo "no language of libdtrap-sdt was built, skipped"; exit 0; }

# calls WHAT: of each language.
calls() {
	local k
	values=()
	for k in "${kinds[@]}"; do
		case $k in
		Java) set -- "$1" java -cp "$jar:$tmp" Calls 100000000 ;;
		Python) set -- "$1" /usr/bin/python3 "$src/calls.py" 5000000 ;;
		Node) set -- "$1" "$node" "$src/calls.js" 20000000 ;;
		esac
		values+=("$(per_call "${@:2}" "$1")")
	done
}

table 'ns a call that nobody watches' "${kinds[@]}"
calls nothing
base "${values[@]}"
calls probe
row 'libdtrap-sdt' "${values[@]}"
calls log
row 'log line, level is off' "${values[@]}"
