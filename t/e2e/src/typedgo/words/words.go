// Package words has a function in assembly, which Go calls with its arguments
// in registers and which gets them on the stack, and one that assembly calls.
package words

// Weigh is written in assembly.
func Weigh(a int64, b int8, s string) (int64, int64)

// Back is called by assembly, with its arguments on the stack.
//
//go:noinline
func Back(n int64, m int32) int64 {
	return n*2 + int64(m)
}

// Roundabout calls Back.
func Roundabout(n int64, m int32) int64
