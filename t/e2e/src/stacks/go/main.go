// here() called where Go runs code on its own: goroutines, deferred functions,
// panics, closures, and on the stack of the system; and after a stack that
// moved.
package main

import (
	"os"
	"sort"
	"strings"
	_ "unsafe"
)

var sink int

//go:linkname systemstack runtime.systemstack
func systemstack(f func())

//go:noinline
//go:nosplit
func leaf(a, b int) int {
	return a*b + sink
}

// Without a look at the stack's end, where the scheduler may step in.
//
//go:noinline
//go:nosplit
func here(n int) int {
	a := leaf(n, 1)
	b := leaf(a, 2)
	c := leaf(b, 3)
	return leaf(a, b) + leaf(c, n)
}

type shape interface{ side(unit string) int }

type square struct{ size int }

//go:noinline
func (s *square) side(unit string) int {
	return here(s.size) + len(unit)
}

//go:noinline
func warm(n int) int {
	var room [200]byte
	room[n&127] = 1
	if n == 0 {
		return 1
	}
	return warm(n-1) + int(room[5])
}

//go:noinline
func plain() int {
	return here(1) + 1
}

//go:noinline
func deep(n int) int {
	var room [200]byte
	room[n&127] = 1
	if n == 0 {
		return plain()
	}
	return deep(n-1) + int(room[5])
}

//go:noinline
func deferred(n int) {
	defer func() {
		recover()
		sink += here(n)
	}()
	panics(n)
}

//go:noinline
func panics(n int) {
	defer func() { sink += here(n) }()
	if n == 0 {
		var p *square
		sink += p.size
	}
	panics(n - 1)
}

//go:noinline
func onSystem() {
	systemstack(func() { sink += here(9) })
}

//go:noinline
func routine(done chan int) {
	done <- plain()
}

func main() {
	all := map[string]func(){
		"plain": func() { sink += plain() },
		"deep":  func() { sink += deep(60) },
		"shape": func() {
			var s shape = &square{3}
			sink += s.side("m")
		},
		"deferred": func() { deferred(2) },
		"sorted": func() {
			v := []int{2, 1}
			sort.Slice(v, func(a, b int) bool {
				sink += here(a)
				return v[a] < v[b]
			})
		},
		"system": onSystem,
		"routine": func() {
			done := make(chan int)
			go routine(done)
			sink += <-done
		},
		"text": func() {
			strings.Map(func(r rune) rune {
				sink += here(int(r))
				return r
			}, "a")
		},
	}
	// From here on the stack does not move.
	sink -= warm(100)
	for _, name := range os.Args[1:] {
		all[name]()
	}
	if sink == 1 {
		os.Exit(1)
	}
}
