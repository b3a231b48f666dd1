// C called from two goroutines.
package main

/*
#include <unistd.h>

__attribute__((noinline)) int
outer(int n)
{
	return getppid() + n;
}
*/
import "C"

//go:noinline
func calls(n int) int {
	return int(C.outer(C.int(n))) + 1
}

func main() {
	done := make(chan int)
	go func() { done <- calls(3) }()
	<-done
	println(calls(4) > 0)
}
