package main

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
)

// meter has latencies in buckets that grow by 5 %, and what they took of the
// CPU.
type meter struct {
	mutex    sync.Mutex
	counts   map[int]int
	began    time.Time
	cpuBegan time.Duration
}

func newMeter() *meter {
	m := &meter{}
	m.restart()
	return m
}

// cpuTime is what the process has used.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func (m *meter) restart() {
	m.counts = make(map[int]int)
	m.began = time.Now()
	m.cpuBegan = cpuTime()
}

func (m *meter) record(latency time.Duration) {
	microseconds := math.Max(float64(latency)/1e3, 1)
	bucket := int(math.Log(microseconds) / math.Log(1.05))
	m.mutex.Lock()
	m.counts[bucket]++
	m.mutex.Unlock()
}

// reset forgets what was before.
func (m *meter) reset() {
	m.mutex.Lock()
	m.restart()
	m.mutex.Unlock()
}

func (m *meter) sample() string {
	m.mutex.Lock()
	counts := m.counts
	seconds := time.Since(m.began).Seconds()
	cpu := cpuTime() - m.cpuBegan
	m.restart()
	m.mutex.Unlock()

	buckets := make([]int, 0, len(counts))
	for bucket := range counts {
		buckets = append(buckets, bucket)
	}
	sort.Ints(buckets)
	ops := 0
	pairs := make([]string, 0, len(counts))
	for _, bucket := range buckets {
		ops += counts[bucket]
		low := math.Pow(1.05, float64(bucket))
		pairs = append(pairs, fmt.Sprintf("%.2f:%d", low, counts[bucket]))
	}
	return fmt.Sprintf("sample ops=%d seconds=%.6f cpu_us=%d hist=%s",
		ops, seconds, cpu.Microseconds(), strings.Join(pairs, ","))
}

var errTwoHold = errors.New("two hold the lock at the same time")

// witness knows who holds the lock, and since when it is free. A holder leaves
// before it lets the lock go, and enters once it has it: two that are in at the
// same time prove that the lock does not exclude.
type witness struct {
	mutex sync.Mutex
	held  bool
	left  time.Time
}

// enter returns how long the lock was free; known is false for the first.
func (w *witness) enter() (free time.Duration, known bool, err error) {
	now := time.Now()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.held {
		return 0, false, errTwoHold
	}
	w.held = true
	return now.Sub(w.left), !w.left.IsZero(), nil
}

func (w *witness) leave() {
	w.mutex.Lock()
	w.held = false
	w.left = time.Now()
	w.mutex.Unlock()
}
