package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/samuel/go-zookeeper/zk"
)

const (
	sessionTimeout = 30 * time.Second
	// Sessions that are opened at the same time.
	openers = 16
)

// run is a workload between `start` and `stop`; every worker is a goroutine, every
// session a connection of its own.
type run struct {
	path     string
	work     time.Duration
	conns    []*zk.Conn
	meter    *meter
	workers  sync.WaitGroup
	stopping atomic.Bool
	held     atomic.Bool
	left     atomic.Int64 // when the last holder released the lock
}

var epoch = time.Now()

func dial(hosts string) *zk.Conn {
	// Without a line about each of a thousand connections.
	quiet := func(c *zk.Conn) { c.SetLogger(log.New(io.Discard, "", 0)) }
	conn, events, err := zk.Connect(strings.Split(hosts, ","), sessionTimeout, quiet)
	check(err)
	for event := range events {
		if event.State == zk.StateHasSession {
			break
		}
	}
	return conn
}

func number(words map[string]string, key string, otherwise int) int {
	text, given := words[key]
	if !given {
		return otherwise
	}
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

// startRun opens the sessions and starts the workers.
func startRun(hosts string, words map[string]string) *run {
	workers := number(words, "workers", 1)
	r := &run{
		path:  words["path"],
		work:  time.Duration(number(words, "work_us", 0)) * time.Microsecond,
		meter: newMeter(),
	}
	count := 1
	if words["workload"] == "W2" {
		count = workers
	}
	r.conns = make([]*zk.Conn, count)
	var opening sync.WaitGroup
	places := make(chan bool, openers)
	for i := range r.conns {
		opening.Add(1)
		places <- true
		go func(i int) {
			r.conns[i] = dial(hosts)
			<-places
			opening.Done()
		}(i)
	}
	opening.Wait()
	ownPaths := strings.HasPrefix(words["workload"], "W1")
	r.workers.Add(workers)
	for i := 0; i < workers; i++ {
		conn := r.conns[i%count]
		if ownPaths {
			go r.cycle(newLock(conn, fmt.Sprintf("%s/%d", r.path, i)))
		} else {
			go r.contend(newLock(conn, r.path))
		}
	}
	return r
}

func newLock(conn *zk.Conn, path string) *zk.Lock {
	return zk.NewLock(conn, path, zk.WorldACL(zk.PermAll))
}

func (r *run) cycle(lock *zk.Lock) {
	defer r.workers.Done()
	for !r.stopping.Load() {
		began := time.Now()
		check(lock.Lock())
		latency := time.Since(began)
		check(lock.Unlock())
		r.meter.record(latency)
	}
}

func (r *run) contend(lock *zk.Lock) {
	defer r.workers.Done()
	for !r.stopping.Load() {
		check(lock.Lock())
		now := time.Since(epoch)
		if r.held.Swap(true) {
			check(errors.New("two hold the lock at the same time"))
		}
		if left := r.left.Load(); left != 0 {
			r.meter.record(now - time.Duration(left))
		}
		if r.work > 0 && !r.stopping.Load() {
			time.Sleep(r.work)
		}
		r.held.Store(false)
		r.left.Store(int64(time.Since(epoch)))
		check(lock.Unlock())
	}
}

// stop lets each worker that waits have the lock once more.
func (r *run) stop() {
	r.stopping.Store(true)
	r.workers.Wait()
	var closing sync.WaitGroup
	closing.Add(len(r.conns))
	for _, conn := range r.conns {
		go func(conn *zk.Conn) {
			conn.Close()
			closing.Done()
		}(conn)
	}
	closing.Wait()
}
