// typedgo: functions of Go with arguments and results of every kind.  It says
// what they are, as the clauses in 87-typed-go.sh do.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"words"
)

type point struct{ X, Y int32 }

type mixed struct {
	B bool
	F float32
	S string
	D float64
	N int8
}

type large struct {
	A [3]int64
	S string
}

type temperature float64

type tree struct {
	Name        string
	Left, Right *tree
	Marks       []int16
}

type named interface{ name() string }

func (t *tree) name() string { return t.Name }

func yes(b bool) int {
	if b {
		return 1
	}
	return 0
}

//go:noinline
func ints(a int8, b uint16, c int32, d int64, e uint, f bool, g uintptr,
	h byte, i rune, j int, k int16) (int, bool, int16) {
	fmt.Println("ints", a, b, c, d, e, yes(f), g, h, i, j, k)
	return j - int(a), !f, k + 1
}

//go:noinline
func floats(a float64, b float32, n int, c complex128, d temperature,
	e complex64) (float64, complex64, float32) {
	fmt.Printf("floats %.2f %.2f %d %.2f %.2f %.2f %.2f %.2f\n", a, b, n,
		real(c), imag(c), d, real(e), imag(e))
	return a + float64(b), e * 2, float32(n) / 4
}

//go:noinline
func texts(s string, b []byte, none string, v []int64) (string, []int16, error) {
	fmt.Println("texts", s, string(b), len(none), v[0], v[len(v)-1], len(v), cap(b))
	var err error
	if len(s) > 3 {
		err = errors.New("long")
	}
	return s[1:] + string(b[:2]), []int16{int16(len(s)), -7}, err
}

//go:noinline
func objects(p point, m mixed, l large, one [1]int16, two [2]int32,
	none struct{}, last int) (large, point) {
	fmt.Printf("objects %d %d %d %.2f %s %.2f %d %d %s %d %d %d %d\n", p.X, p.Y,
		yes(m.B), m.F, m.S, m.D, m.N, l.A[2], l.S, one[0], two[0], two[1], last)
	return large{A: [3]int64{1, 2, int64(last)}, S: m.S}, point{p.Y, p.X}
}

//go:noinline
func pointers(t *tree, f func(int) int, m map[string]int, c chan int,
	i named, e interface{}, p *string) *tree {
	fmt.Println("pointers", t.Left.Name, yes(t.Right == nil), t.Marks[1], len(m),
		yes(f != nil), cap(c), yes(i != nil), e, *p)
	return t.Left
}

// In older versions nothing tells of what has no name.
//
//go:noinline
func blanks(_ int, b int8, _ string, c string, _ float64, d float64) (_ int, r string) {
	fmt.Printf("blanks %d %s %.2f\n", b, c, d)
	return int(b), c + c
}

//go:noinline
func spilled(_ int8, b int8) int8 {
	fmt.Println("spilled", b)
	return -b
}

//go:noinline
func (p point) sum(by int32) int32 {
	fmt.Println("sum", p.X, p.Y, by)
	return (p.X + p.Y) * by
}

// Its stack grows: the function begins once more.
//
//go:noinline
func deep(n int, s string) int {
	var room [200]int
	room[n%200] = n
	if n > 0 {
		return deep(n-1, s) + room[n%200] - n
	}
	return len(s)
}

// Each goroutine comes back on another thread, perhaps, than it went away on.
//
//go:noinline
func wander(id int, turns int) int {
	for i := 0; i < turns; i++ {
		runtime.Gosched()
	}
	return id * 10
}

func goroutines() {
	var all sync.WaitGroup
	for i := 1; i <= 40; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			if i%2 == 0 {
				runtime.LockOSThread()
			}
			wander(i, 20)
		}(i)
	}
	all.Wait()
}

func main() {
	if len(os.Args) > 1 {
		goroutines()
		return
	}
	for n := 1; n <= 3; n++ {
		text := strings.Repeat("go", n)
		fmt.Println(words.Weigh(int64(n), int8(-n), text))
		fmt.Println(words.Roundabout(int64(n), int32(n+5)))
		a, b, c := ints(int8(-n), uint16(n), int32(-70000), 1<<40, uint(n), n == 2,
			uintptr(n), byte(200), 'x', n*1000, int16(-n))
		fmt.Println("ints =", a, yes(b), c)
		d, e, f := floats(float64(n)/2, float32(n)/4, n, complex(1.5, float64(n)),
			temperature(36.6), complex(float32(n), -1))
		fmt.Printf("floats = %.2f %.2f %.2f %.2f\n", d, real(e), imag(e), f)
		s, v, err := texts(text, []byte("bytes"), "", []int64{int64(n), 5, -9})
		fmt.Println("texts =", s, v[0], v[1], yes(err != nil))
		l, p := objects(point{int32(n), -2}, mixed{n == 1, 1.5, text, 2.25, -3},
			large{[3]int64{7, 8, int64(n)}, "large"}, [1]int16{int16(-n)},
			[2]int32{int32(n), 77}, struct{}{}, n+100)
		fmt.Println("objects =", l.A[2], l.S, p.X, p.Y)
		t := &tree{"top", &tree{Name: "left"}, nil, []int16{1, int16(n)}}
		r := pointers(t, func(k int) int { return k * n },
			map[string]int{"one": 1}, make(chan int, n), t, n, &text)
		fmt.Println("pointers =", r.Name)
		_, r2 := blanks(n, int8(n), "nothing", text, 0.5, float64(n)/8)
		fmt.Println("blanks =", r2)
		fmt.Println("spilled =", spilled(9, int8(n)))
		fmt.Println("sum =", point{int32(n), 4}.sum(int32(n)))
	}
	fmt.Println("deep", deep(3000, "stack"))
}
