// A tea house in Go, to be traced: twelve goroutines are guests.
package main

import (
	"errors"
	"os"
	"sync"
)

type Order struct {
	Guest int
	Tea   string
	Grams int
}

//go:noinline
func (o *Order) Price() (int, error) {
	if o.Tea == "oolong" {
		return 0, errors.New("no " + o.Tea)
	}
	return len(o.Tea) * o.Grams, nil
}

//go:noinline
func brew(tea string, grams int) int {
	return len(tea) + grams
}

func main() {
	teas := []string{"assam", "sencha", "oolong"}
	var all sync.WaitGroup
	for i := 1; i <= 12; i++ {
		all.Add(1)
		go func(o *Order) {
			defer all.Done()
			if _, err := o.Price(); err == nil {
				brew(o.Tea, o.Grams)
			}
		}(&Order{i, teas[i%3], 2 + i%4*2})
	}
	all.Wait()
	os.Exit(0)
}
