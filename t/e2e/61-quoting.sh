#!/bin/bash
# -c takes quotes and backslashes as a shell does, and expands nothing.
. "${0%/*}/lib.sh"

# words STRING: what the program was called with, against what sh makes of it.
words() {
	dt -q -n 'BEGIN { }' -c "$bin/argv $1"
	is "$1: status" "$status" 0
	sed '/^$/d' "$tmp/out" >"$tmp/got"
	sh -f -c "$bin/argv $1" >"$tmp/want"
	same "$1" "$tmp/want" "$tmp/got"
}

words 'one two  three'
words '"one two" three'
words "'one two' three"
words 'one\ two three'
words '"a \"quoted\" word" \"b\"'
words "'single \"double\" inside' \"double 'single' inside\""
words "a'b c'd\"e f\"g"
words '""'
words "'' x ''"
words 'back\\slash "back\\slash"'
words "'back\\slash'"
words '"back\slash"'
words '	tab	between'
words "'new
line' \"and
another\""

# Nothing is expanded.
# shellcheck disable=SC2016
dt -q -n 'BEGIN { }' -c "$bin"'/argv $HOME * ~ `id` > < | & ; # {a,b} $(id)'
sed '/^$/d' "$tmp/out" >"$tmp/got"
# shellcheck disable=SC2016
printf '[%s]\n' '$HOME' '*' '~' '`id`' '>' '<' '|' '&' ';' '#' '{a,b}' '$(id)' \
    >"$tmp/want"
same "what a shell would expand" "$tmp/want" "$tmp/got"

# The program is looked for as execvp() does.
dt -q -n 'BEGIN { }' -c 'printf "%s-%s\n" a "b c"'
has "$tmp/out" '^a-b c$'
finish
