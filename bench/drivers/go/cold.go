package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/samuel/go-zookeeper/zk"
)

const coldStarts = 20

// coldRun is W6: each sample is some cold starts, each of a process of its own.
type coldRun struct {
	hosts, path string
}

// startCold is what that process does.
func startCold(hosts, path string) error {
	conn, err := dial(hosts)
	if err != nil {
		return err
	}
	defer conn.Close()
	lock := zk.NewLock(conn, path, zk.WorldACL(zk.PermAll))
	if err := lock.Lock(); err != nil {
		return err
	}
	fmt.Println("held")
	return lock.Unlock()
}

// once returns how long it took to hold the lock, and then to end.
func (c *coldRun) once() (holding, closing time.Duration, err error) {
	command := exec.Command(os.Args[0], "cold", c.hosts, c.path)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if err := command.Start(); err != nil {
		return 0, 0, err
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	held := time.Now()
	if err := command.Wait(); err != nil {
		return 0, 0, err
	}
	if line != "held\n" {
		return 0, 0, errors.New("a cold start failed")
	}
	return held.Sub(began), time.Since(held), nil
}

func (c *coldRun) sample() (string, error) {
	m := newMeter()
	var sum time.Duration
	for i := 0; i < coldStarts; i++ {
		holding, closing, err := c.once()
		if err != nil {
			return "", err
		}
		m.record(holding)
		sum += closing
	}
	mean := sum.Microseconds() / coldStarts
	return fmt.Sprintf("%s close_us=%d", m.sample(), mean), nil
}

func (c *coldRun) stop() error {
	conn, err := dial(c.hosts)
	if err != nil {
		return err
	}
	defer conn.Close()
	return remove(conn, c.path)
}
