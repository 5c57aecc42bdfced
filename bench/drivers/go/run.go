package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/samuel/go-zookeeper/zk"
)

const (
	sessionTimeout = 30 * time.Second
	patience       = 60 * time.Second
	// With workers whose connection or fellow worker has failed.
	littlePatience = 5 * time.Second
	// Sessions that are opened at the same time.
	openers = 16
)

// task is what goes on between `start` and `stop`.
type task interface {
	sample() (string, error)
	stop() error
}

// run is a workload; every worker is a goroutine, every session a connection of
// its own.
type run struct {
	options
	conns    []*zk.Conn
	meter    *meter
	witness  witness
	workers  sync.WaitGroup
	stopping atomic.Bool
	mutex    sync.Mutex
	problem  error
}

func dial(hosts string) (*zk.Conn, error) {
	// Without a line about each of a thousand connections.
	quiet := func(c *zk.Conn) { c.SetLogger(log.New(io.Discard, "", 0)) }
	servers := strings.Split(hosts, ",")
	conn, events, err := zk.Connect(servers, sessionTimeout, quiet)
	if err != nil {
		return nil, err
	}
	timeout := time.After(patience)
	for {
		select {
		case event := <-events:
			if event.State == zk.StateHasSession {
				return conn, nil
			}
		case <-timeout:
			conn.Close()
			return nil, errors.New("no session in a minute")
		}
	}
}

// startRun opens the sessions and lets the workers warm up.
func startRun(hosts string, o options) (task, error) {
	r := &run{options: o, meter: newMeter()}
	count := 1
	if o.workload == "W2" {
		count = o.workers
	}
	if err := r.open(hosts, count); err != nil {
		r.fail(err)
		return nil, r.stop()
	}
	loop := r.contend
	if o.workload == "W1" || o.workload == "W1p" {
		loop = r.cycle
	}
	for i := 0; i < o.workers; i++ {
		r.workers.Add(1)
		go func(number int) {
			defer r.workers.Done()
			if err := loop(r.conns[number%count], number); err != nil {
				r.fail(err)
			}
		}(i)
	}
	time.Sleep(o.warm)
	r.meter.reset()
	return r, nil
}

func (r *run) open(hosts string, count int) error {
	var opening sync.WaitGroup
	places := make(chan bool, openers)
	for i := 0; i < count; i++ {
		opening.Add(1)
		places <- true
		go func() {
			defer opening.Done()
			conn, err := dial(hosts)
			r.mutex.Lock()
			defer r.mutex.Unlock()
			if err != nil {
				r.problem = err
			} else {
				r.conns = append(r.conns, conn)
			}
			<-places
		}()
	}
	opening.Wait()
	return r.problem
}

// fail notes the first error, and lets the others come to an end.
func (r *run) fail(err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.problem == nil {
		r.problem = err
	}
	r.stopping.Store(true)
}

func (r *run) failed() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.problem
}

func (r *run) cycle(conn *zk.Conn, number int) error {
	path := fmt.Sprintf("%s/%d", r.path, number)
	lock := zk.NewLock(conn, path, zk.WorldACL(zk.PermAll))
	for !r.stopping.Load() {
		began := time.Now()
		if err := lock.Lock(); err != nil {
			return err
		}
		latency := time.Since(began)
		if err := lock.Unlock(); err != nil {
			return err
		}
		r.meter.record(latency)
	}
	return nil
}

func (r *run) contend(conn *zk.Conn, _ int) error {
	lock := zk.NewLock(conn, r.path, zk.WorldACL(zk.PermAll))
	for !r.stopping.Load() {
		if err := lock.Lock(); err != nil {
			return err
		}
		latency, known, err := r.witness.enter()
		if err != nil {
			return err
		}
		if known {
			r.meter.record(latency)
		}
		if r.work > 0 && !r.stopping.Load() {
			time.Sleep(r.work)
		}
		r.witness.leave()
		if err := lock.Unlock(); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) sample() (string, error) {
	if err := r.failed(); err != nil {
		return "", err
	}
	return r.meter.sample(), nil
}

// stop lets everyone who waits have the lock once more, then leaves.
func (r *run) stop() error {
	r.stopping.Store(true)
	timeout := patience
	if r.failed() != nil {
		timeout = littlePatience
	}
	finished := make(chan bool)
	go func() {
		r.workers.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-time.After(timeout):
		r.fail(errors.New("a worker waits"))
	}
	if r.failed() == nil {
		if err := remove(r.conns[0], r.path); err != nil {
			r.fail(err)
		}
	}
	var closing sync.WaitGroup
	for _, conn := range r.conns {
		closing.Add(1)
		go func(conn *zk.Conn) {
			defer closing.Done()
			conn.Close()
		}(conn)
	}
	closing.Wait()
	return r.failed()
}

// remove deletes the node at path and all below it.
func remove(conn *zk.Conn, path string) error {
	children, _, err := conn.Children(path)
	if err == zk.ErrNoNode {
		return nil
	}
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := remove(conn, path+"/"+child); err != nil {
			return err
		}
	}
	return conn.Delete(path, -1)
}
