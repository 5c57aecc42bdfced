// Driver has the lock of go-zookeeper behind the protocol of bench/README.md:
//
//	driver VERSION HOSTS
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strings"
)

func main() {
	fmt.Printf("driver name=go version=%s workloads=W1,W1p,W2,W4\n", os.Args[1])
	var r *run
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		words := make(map[string]string)
		for _, field := range fields[1:] {
			key, value, _ := strings.Cut(field, "=")
			words[key] = value
		}
		switch fields[0] {
		case "start":
			r = startRun(os.Args[2], words)
			fmt.Println("running")
		case "sample":
			fmt.Println(r.meter.sample())
		default:
			r.stop()
			fmt.Println("stopped")
		}
	}
}

// check ends the driver if there is an error; the harness shows the last line.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
