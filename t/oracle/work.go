// Work for the oracle: much of Go's library, by several goroutines, with panics
// that are recovered from.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"sync"
	"text/template"
)

type item struct {
	Name string             `json:"name"`
	Tags []string           `json:"tags"`
	N    map[string]float64 `json:"n"`
}

func safe(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("recovered: %v", r)
		}
	}()
	f()
	return nil
}

func work(k int) string {
	it := item{fmt.Sprint("x", k), []string{"a", "b"}, map[string]float64{"k": float64(k) / 3}}
	b, _ := json.Marshal(it)
	var back item
	if err := json.Unmarshal(b, &back); err != nil {
		return err.Error()
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(b)
	w.Close()
	r, _ := gzip.NewReader(&z)
	c, _ := io.ReadAll(r)
	re := regexp.MustCompile(`([a-z]+)(\d+)`)
	s := re.ReplaceAllString(string(c), "$2$1")
	t := template.Must(template.New("t").Parse("{{range .Tags}}<{{.}}>{{end}}"))
	var o strings.Builder
	t.Execute(&o, back)
	l := strings.Split(s, "\"")
	sort.Strings(l)
	err := safe(func() { var m map[string]int; m["x"] = 1 })
	err2 := safe(func() { panic(errors.New("mine")) })
	return fmt.Sprint(len(l), o.String(), err, err2)
}

func main() {
	var wg sync.WaitGroup
	out := make(chan string, 4)
	for g := 0; g < 2; g++ {
		wg.Add(1)
		go func(g int) {
			defer wg.Done()
			for i := 0; i < 2; i++ {
				out <- work(g*10 + i)
			}
		}(g)
	}
	wg.Wait()
	// Nobody is still in a function when the program ends: how many are
	// would differ from run to run.
	for runtime.NumGoroutine() > 1 {
		runtime.Gosched()
	}
	close(out)
	n := 0
	for s := range out {
		n += len(s)
	}
	fmt.Fprintln(os.Stdout, n)
}
