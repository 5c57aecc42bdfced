package main

import (
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
	pairs := make([]string, 0, len(counts))
	for _, bucket := range buckets {
		low := math.Pow(1.05, float64(bucket))
		pairs = append(pairs, fmt.Sprintf("%.2f:%d", low, counts[bucket]))
	}
	return fmt.Sprintf("sample seconds=%.6f cpu_us=%d hist=%s",
		seconds, cpu.Microseconds(), strings.Join(pairs, ","))
}
