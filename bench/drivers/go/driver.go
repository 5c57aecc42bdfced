// Driver has the lock of go-zookeeper behind the protocol of bench/README.md.
//
//	driver VERSION HOSTS      what the harness starts
//	driver cold HOSTS PATH    one cold start: W6 starts it again and again
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const workloads = "W1,W1p,W2,W4,W6"

// options are the words of a `start`.
type options struct {
	workload, path string
	workers        int
	work, warm     time.Duration
}

type driver struct {
	hosts string
	task  task
}

func number(words map[string]string, key string, otherwise int) (int, error) {
	text, given := words[key]
	if !given {
		return otherwise, nil
	}
	return strconv.Atoi(text)
}

func parse(words map[string]string) (o options, err error) {
	o.workload, o.path = words["workload"], words["path"]
	if o.workload == "" || o.path == "" {
		return o, errors.New("no workload or no path")
	}
	if o.workers, err = number(words, "workers", 1); err != nil {
		return o, err
	}
	work, err := number(words, "work_us", 0)
	if err != nil {
		return o, err
	}
	o.work = time.Duration(work) * time.Microsecond
	warm, err := number(words, "warm_ms", 300)
	o.warm = time.Duration(warm) * time.Millisecond
	return o, err
}

func (d *driver) start(words map[string]string) (string, error) {
	if d.task != nil {
		return "", errors.New("a workload is running")
	}
	o, err := parse(words)
	if err != nil {
		return "", err
	}
	_, localTurns := words["local_turns"]
	_, scheme := words["scheme"]
	known := strings.Contains(","+workloads+",", ","+o.workload+",")
	switch {
	case !known || localTurns || scheme:
		return "unsupported", nil
	case o.workload == "W6":
		d.task = &coldRun{d.hosts, o.path}
	default:
		if d.task, err = startRun(d.hosts, o); err != nil {
			return "", err
		}
	}
	return "running", nil
}

func (d *driver) obey(fields []string) (string, error) {
	words := make(map[string]string)
	for _, field := range fields[1:] {
		key, value, found := strings.Cut(field, "=")
		if !found {
			return "", errors.New("this is no key=value: " + field)
		}
		words[key] = value
	}
	command := fields[0]
	if command == "start" {
		return d.start(words)
	}
	if command != "sample" && command != "stop" {
		return "", errors.New("there is no command " + command)
	}
	if d.task == nil {
		return "", errors.New("nothing is running")
	}
	if command == "sample" {
		return d.task.sample()
	}
	last := d.task
	d.task = nil
	return "stopped", last.stop()
}

func (d *driver) serve() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() && lines.Text() != "quit" {
		fields := append(strings.Fields(lines.Text()), "")
		if fields[0] != "" {
			fields = fields[:len(fields)-1]
		}
		answer, err := d.obey(fields)
		if err != nil {
			text := strings.Join(strings.Fields(err.Error()), "_")
			answer = "error text=" + text
		}
		fmt.Println(answer)
	}
	if d.task != nil {
		if err := d.task.stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

func main() {
	if os.Args[1] == "cold" {
		if err := startCold(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	fmt.Printf("driver protocol=1 name=go version=%s workloads=%s\n",
		os.Args[1], workloads)
	d := &driver{hosts: os.Args[2]}
	d.serve()
}
