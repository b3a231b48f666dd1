#!/bin/bash
# timeout: 7200
# sigtrap.sh [COUNT [KIND]...]: SIGKILL of the tracer of programs that have a use
# for SIGTRAP themselves, COUNT times (3, or 100 with TORTURE) each, at some
# moment while probes fire; of the tracer and its guardian every other time.
#
#	asks ignores changes	trapaction.c, attached to and launched: a crash
#				handler that asks, a program that ignores it,
#				a runtime that changes the action
#	go			a program in Go, whose runtime sets every action
#				at its start, attached to and launched
#
# Each goes on, gets the results that it gets alone, and ends by itself.
# shellcheck source=SCRIPTDIR/lib.sh disable=SC2154 # it assigns pid and out
. "${0%/*}/lib.sh"
need_attach
count=${1:-$([ -n "$torture" ] && echo 100 || echo 3)}
[ $# = 0 ] || shift
[ $# -gt 0 ] || set -- asks ignores changes go

# shellcheck disable=SC2016
work='pid$target:a.out:work:entry,pid$target:a.out:work:return'

# Its workers call main.work all the time; it ends with a line of input.
make_go() {
	go_module busy
	cat >"$tmp/go/main.go" <<'GO'
package main

import (
	"bufio"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

//go:noinline
func work(n int) int {
	return n + 1
}

func main() {
	var stop atomic.Bool
	var wrong atomic.Int64
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for n := 0; !stop.Load(); n++ {
				if work(n) != n+1 {
					wrong.Add(1)
				}
			}
		}()
	}
	fmt.Println("ready", os.Getpid())
	bufio.NewReader(os.Stdin).ReadString('\n')
	stop.Store(true)
	all.Wait()
	fmt.Println("done wrong", wrong.Load())
}
GO
	(cd "$tmp/go" && go build -o "$tmp/busy" .) >"$tmp/err" 2>&1 ||
	    fail "cannot compile Go"
}

# kill_round ATTACH|LAUNCH GUARDIAN PROBES COMMAND...
kill_round() {
	local how=$1 both=$2 what=$3 p fd child dead=()
	shift 3
	if [ "$how" = attach ]; then
		start t "$@"
		line t '^ready'
		p=${pid[t]}
		start_dt dt -q -x fastpath=off -n "$what { @ = count(); }" -p "$p"
	else
		# The program has dtrap's input and output.
		start t "$DTRAP" -q -x fastpath=off -n "$what { @ = count(); }" -c "$(quote "$@")"
		line t '^ready'
		p=${line#ready }
		pid[dt]=${pid[t]}
	fi
	random 50
	pause "$(printf '0.%03d' "$random")"
	children_of "${pid[dt]}"
	for child in "${children[@]}"; do
		[ "$both" = 0 ] || [ "$child" = "$p" ] || dead+=("$child")
	done
	kill -KILL "${dead[@]}" "${pid[dt]}"
	wait "${pid[dt]}" 2>/dev/null
	unset "pid[dt]"
	(trap '' PIPE; tell t stop) 2>/dev/null # it may have gone
	if IFS= read -r -t 60 -u "${out[t]}" line; then
		[ "${line% told*}" = 'done wrong 0' ]
	else
		lost=$((lost + 1))
		false
	fi || wrong "$*, $how, guardian killed $both, round $n: it wrote '$line'"
	if [ "$how" = attach ]; then
		end t
		is "$*: its end" "$status" 0
	else
		unset "pid[t]"
		close_in t
		fd=${out[t]}
		exec {fd}<&-
		unset "out[t]"
	fi
}

for kind; do
	what=$work
	command=("$bin/trapaction" "$kind")
	if [ "$kind" = go ]; then
		command -v go >/dev/null || { echo "go is not installed"; continue; }
		make_go
		# shellcheck disable=SC2016
		what='pid$target:a.out:main.work:entry,pid$target:a.out:main.work:return'
		command=("$tmp/busy")
	fi
	for how in attach launch; do
		lost=0
		for ((n = 0; n < count; n++)); do
			kill_round $how $((n % 2)) "$what" "${command[@]}"
		done
		echo "$kind, $how: $count kills, $lost lost"
	done
done
finish
