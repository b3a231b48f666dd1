#!/bin/bash
# A program in Go: its scheduler stops threads by signals, in the middle of
# functions that are probed; stacks move; the collector looks at all of them.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need_attach
need go
go_module spin
cat >"$tmp/go/main.go" <<'GO'
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

//go:noinline
func work(n int) int {
	return n + 1
}

//go:noinline
func deep(n int) int {
	var room [64]int
	room[n%64] = n
	if n == 0 {
		return work(room[0])
	}
	return deep(n-1) + room[n%64] - n
}

// Without a call that would let the scheduler in.
func spin(turns int) int {
	sum := 0
	for i := 0; i < turns; i++ {
		sum = sum*31 + i
		if i%100000 == 0 {
			sum = work(sum)
		}
	}
	return sum
}

func main() {
	if len(os.Args) > 1 {
		fmt.Println("ready")
		bufio.NewReader(os.Stdin).ReadString('\n')
	}
	var all sync.WaitGroup
	sums := make([]int, 8)
	for i := range sums {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			sums[i] = spin(20000000) + deep(200+i)
		}(i)
	}
	for i := 0; i < 20; i++ {
		runtime.GC()
		time.Sleep(time.Millisecond)
		c := make(chan int)
		go func() { c <- deep(i * 10) }()
		work(<-c)
	}
	all.Wait()
	fmt.Println(sums)
}
GO
(cd "$tmp/go" && go build -o "$tmp/spin" .) >"$tmp/err" 2>&1 ||
    fail "cannot compile Go"

# shellcheck disable=SC2016
for what in 'pid$target:a.out:main.work:entry,pid$target:a.out:main.deep:entry' \
    'pid$target:a.out:main.work:,pid$target:a.out:main.deep:' \
    'pid$target:a.out:main.work:return,syscall:::'; do
	same_traced "$what" "$tmp/spin"
	start spin "$tmp/spin" wait
	line spin ready
	start_dt dt -q -n "$what { @ = count(); }" -p "${pid[spin]}"
	tell spin go
	end spin
	is "status" "$status" 0
	end dt
	"$tmp/spin" >"$tmp/alone"
	grep -v ready "$tmp/spin.out" >"$tmp/seen"
	same "attached" "$tmp/alone" "$tmp/seen"
done

# Each call once: the way back from where a stack is made larger is none, and a
# goroutine that a signal takes away goes on in another thread.  200 calls of
# work() in each of 8, one for each deep(), and 20; deep(n) calls itself n times.
each_once() { # OPTION...
	# shellcheck disable=SC2016
	dt -q "$@" -n 'pid$target:a.out:main.work:entry,
	    pid$target:a.out:main.deep:entry { @e[probefunc] = count(); }
	    pid$target:a.out:main.work:return,
	    pid$target:a.out:main.deep:return { @r[probefunc] = count(); }
	    END { printa("%s %@d %@d\n", @e, @r); }' -c "$tmp/spin"
	has "$tmp/out" '^main.work 1648 1648$'
	has "$tmp/out" '^main.deep 3556 3556$'
}
for i in 1 2 3; do
	each_once
done

# With option fastpath, too: each goroutine returns to runtime.goexit+1 at its end, a
# stack grows at an entry and the entry is executed again, and the code of a site does
# not see whether there is stack anywhere but at entries and returns.
# shellcheck disable=SC2016
d='pid$target:a.out:main.*:entry,pid$target:a.out:main.*:return,
    pid$target:a.out:runtime.goexit*:entry,pid$target:a.out:runtime.gogo*:entry'
OPTS='-x fastpath=on' same_traced "$d" "$tmp/spin"
# shellcheck disable=SC2016
dt -l -v -x fastpath=on -n 'pid$target:a.out:main.work:entry,
    pid$target:a.out:main.deep:return { @ = count(); }' -c "$tmp/spin"
has "$tmp/out" '[0-9] by jump$'
hasnt "$tmp/out" ' by trap'
# shellcheck disable=SC2016
dt -l -v -x fastpath=on -n 'pid$target:a.out:main.deep:,
    pid$target:a.out:runtime.goexit*:entry { @ = count(); }' -c "$tmp/spin"
has "$tmp/out" "1 by trap: assembly of Go's may be on a stack without room"
has "$tmp/out" '1 by trap: the stack of a goroutine may have no room there'
for i in 1 2 3; do
	each_once -v -x fastpath=on
	hasnt "$tmp/err" ' 0 hits by jump'
done
finish
