#!/bin/bash
# -x oformat=json: every golden test again, against the schema; what only a
# process has (stacks, names, types), lists, drops; and that the document
# describes what the schema allows.
# timeout: 1800
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need python3 jq
python3 -c 'import jsonschema' 2>/dev/null ||
    skip "python3-jsonschema is not installed"

# check WHAT: "$tmp/out" is what the schema says.
check() {
	python3 -W ignore t/formats/jsonlines.py "$tmp/out" >"$tmp/wrong" ||
	    wrong "$1: $(head -n 20 "$tmp/wrong")"
}

python3 -W ignore t/formats/golden.py "$DTRAP" >"$tmp/golden" ||
    wrong "golden tests: $(tail -n 40 "$tmp/golden")"
has "$tmp/golden" '^[0-9]{3,} tests, 0 failed; '

# The same stacks as in text, frame by frame, with their counts.
prog='pid$target:a.out:leaf:entry { @s[ustack(), execname] = count(); }'
dt -q -x stackindent=0 -n "$prog" -c "$bin/frames"
is "text: status" "$status" 0
awk 'NF > 0' "$tmp/out" | sed 's/^  *//; s/  */ /g; s/ *$//' >"$tmp/text"
dt -x oformat=json -n "$prog" -c "$bin/frames"
is "stacks: status" "$status" 0
check stacks
jq -r 'select(.type == "aggregation") | .["aggregation-data"][] |
    (.keys[0]["ustack-frames"][].symbol), "\(.keys[1].value) \(.count)"' \
    "$tmp/out" >"$tmp/json"
[ -s "$tmp/json" ] || wrong "no stacks"
same "stacks" "$tmp/text" "$tmp/json"
is "command" "$(jq -r 'select(.type == "begin").processes[0].command' \
    "$tmp/out")" "$bin/frames"
is "program" "$(jq -r 'select(.type == "begin").programs[0].text' \
    "$tmp/out")" "$prog"
is "version" "dtrap $(jq -r 'select(.type == "begin").version' "$tmp/out")" \
    "$("$DTRAP" --version | cut -d' ' -f1,2)"
# Each part of a name is in the whole.
is "parts" "$(jq -c '.. | .["ustack-frames"]? // empty | .[] |
    select(.symbol != .module + "`" + .name + if .offset then "+" + .offset
	else "" end)' "$tmp/out" | head -n 3)" ''

# Names of addresses, and a whole structure.
dt -x oformat=json -n 'pid$target:a.out:leaf:entry { usym(uregs[R_PC]);
	uaddr(uregs[R_PC] + 1); umod(uregs[R_PC]); exit(0); }' -c "$bin/frames"
check "symbols"
is "symbols" "$(jq -r 'select(.type == "probe").output |
    "\(.[0].object) \(.[0].name) \(.[0].offset) \(.[1].offset) \(.[2].umod)"' \
    "$tmp/out")" 'frames leaf null 0x1 frames'
dt -x oformat=json -o "$tmp/typed" -n '
    pid$target:a.out:deep:entry /args[2] == GREEN/ { print(*args[0]); }
    pid$target:a.out:objects:entry /args[0].a == 2/ { print(args[1]); exit(0); }
    ' -c "$bin/typed-o2"
mv "$tmp/typed" "$tmp/out"
check "print()"
jq -r 'select(.type == "probe").output[].type[] |
    "\(.["member-name"]) \(.name) \(.value)"' "$tmp/out" |
    sed 's/0x[0-9a-f]*/PTR/' >"$tmp/printed"
cat >"$tmp/want" <<'END'
null outer_t null
first long 1
a struct inner null
a.tag char 116
a.b int [4] null
a.b[0] int 1
a.b[1] int 2
a.b[2] int 3
a.b[3] int -1
next struct outer * PTR
name const char * PTR
color enum color GREEN
low unsigned int 1
high unsigned int 300
null struct mixed null
d double 1
n long 102
END
same "print()" "$tmp/want" "$tmp/printed"

# A list, short and long: the same probes as in text.
dt -ln 'BEGIN,END,ERROR,profile:::tick-1s'
sed 1d "$tmp/out" | awk '{ print $1, $2, $NF }' >"$tmp/text"
for v in '' -v; do
	dt -x oformat=json -ln 'BEGIN,END,ERROR,profile:::tick-1s' $v
	check "list $v"
	jq -r 'select(.type == "description") | "\(.id) \(.provider) \(.name)"' \
	    "$tmp/out" >"$tmp/json"
	same "list $v" "$tmp/text" "$tmp/json"
done
dt -x oformat=json -v -ln 'pid$target:a.out:leaf:entry /arg0/ { stop(); }' \
    -c "$bin/frames"
check "list of a process"
is "who evaluates" "$(jq -c 'select(.type == "description") |
    [.["predicate-by-tracer"] != null, .["actions-by-tracer"] != null]' \
    "$tmp/out")" '[true,true]'

# Drops are counted as the messages count them.
dt -qx oformat=json -o "$tmp/dropped" -x aggmax=64k -n '
    pid$target:a.out:hot_push:entry { @[arg0] = count(); }' \
    -c "$(quote "$bin/hot" 20000 push)"
mv "$tmp/dropped" "$tmp/out"
check drops
drops=$(awk '/ aggregation drops? beyond aggmax$/ { n += $2 }
	END { print n + 0 }' "$tmp/err")
[ "$drops" -gt 0 ] || wrong "no drops: $(head -n 3 "$tmp/err")"
is "drops" "$(jq -s 'map(select(.type == "drop").count) | add' "$tmp/out")" \
    "$drops"
is "drops and counts" "$(jq 'select(.type == "aggregation") |
    [.["aggregation-data"][].count] | add' "$tmp/out")" "$((20000 - drops))"

# system() stays out of the way.
dt -w -x oformat=json -n 'BEGIN { printf("a"); system("echo said");
	printf("b"); exit(4); }'
check "system()"
is "status" "$status $(jq 'select(.type == "end").status' "$tmp/out")" '4 4'
has "$tmp/err" '^said$'

# A file is appended to: two runs, two beginnings.
for i in 1 2; do
	dt -x oformat=json -o "$tmp/both" -n 'BEGIN { exit(0); }'
done
is "two runs" "$(jq -r .type "$tmp/both" | tr '\n' ' ')" \
    'begin probe end begin probe end '

dt -x oformat=xml -n 'BEGIN { exit(0); }'
is "no such format: status" "$status" 1
has "$tmp/err" 'failed to set -x oformat: Invalid value'
"$PLOCKSTAT" -x oformat=json true >"$tmp/out" 2>"$tmp/err"
has "$tmp/err" '^plockstat: -x oformat: .*; -j prints JSON$'

# The document names each member with its origin, as the schema has it.
python3 - <<'END' >"$tmp/wrong" || wrong "doc/json.md: $(cat "$tmp/wrong")"
import json, re, sys
schema = json.load(open('doc/json.schema.json', encoding='utf-8'))
doc = open('doc/json.md', encoding='utf-8').read()
where = {}  # member: the letters of the rows that name it
for row in re.findall(r'^\| (.*) \|$', doc, re.M):
    cells = row.split(' | ')
    if len(cells) > 1 and re.match(r'[FBD]\b', cells[1]):
        letters = set(re.findall(r'\b[FBD]\b', ' '.join(cells[1:])))
        for name in re.findall(r'[a-z][a-z-]*', ' '.join(re.findall(
                r'`([^`]*)`', cells[0]) + re.findall(r'`([^`]*)`',
                cells[2] if cells[1] == 'D' and len(cells) > 2 else ''))):
            where.setdefault(name, set()).update(letters)
bad = []

def walk(node):
    if isinstance(node, dict):
        for name, value in node.get('properties', {}).items():
            if isinstance(value, dict) and 'x-from' in value:
                letter = {'freebsd': 'F', 'bpftrace': 'B', 'dtrap': 'D'}[
                    value['x-from']]
                if letter not in where.get(name, ()) and name != 'type':
                    bad.append('%s from %s' % (name, value['x-from']))
        for value in node.values():
            walk(value)
    elif isinstance(node, list):
        for value in node:
            walk(value)

walk(schema)
print('\n'.join(sorted(set(bad))))
sys.exit(bool(bad) or len(where) < 40)
END
finish
