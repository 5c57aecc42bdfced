"""Kazoo's locks behind the protocol of bench/README.md: driver.py HOSTS.

Every worker is a thread, every session a KazooClient with its own connection.
Each acquisition takes a new Lock from the client: one that is used again lists
the children once more, to look for a node that it might have left behind, and
so costs a request of the size of the queue where a new one costs an `exists`.
"""
import collections
import concurrent.futures
import math
import os
import sys
import threading
import time
import traceback

import kazoo.version
from kazoo.client import KazooClient

SESSION_TIMEOUT = 30
PATIENCE_S = 60
# Sessions that are opened or closed at the same time.
OPENERS = 16
# Threads that mostly sleep need little of a stack, and there are thousands.
STACK_BYTES = 256 * 1024

BUCKET = 1 / math.log(1.05)


class Meter:
    """Latencies in buckets that grow by 5 %, and what they took of the CPU."""

    def __init__(self):
        self.lock = threading.Lock()
        self.restart()

    def restart(self):
        self.counts = collections.Counter()
        self.began = time.perf_counter()
        self.cpu_began = time.process_time()

    def record(self, seconds):
        bucket = int(math.log(max(seconds * 1e6, 1)) * BUCKET)
        with self.lock:
            self.counts[bucket] += 1

    def sample(self):
        with self.lock:
            counts, began, cpu = self.counts, self.began, self.cpu_began
            self.restart()
            elapsed, used = self.began - began, self.cpu_began - cpu
        histogram = ",".join(f"{1.05 ** bucket:.2f}:{count}"
                             for bucket, count in sorted(counts.items()))
        return (f"sample seconds={elapsed:.6f} cpu_us={used * 1e6:.0f}"
                f" hist={histogram}")


class Run:
    """A workload between `start` and `stop`."""

    def __init__(self, hosts, words):
        self.path = words["path"]
        self.workload = words["workload"]
        self.work = int(words.get("work_us", 0)) / 1e6
        workers = int(words.get("workers", 1))
        self.meter = Meter()
        self.stopping = False
        self.held = False
        self.left = None  # when the last holder released the lock
        self.clients = [KazooClient(hosts, timeout=SESSION_TIMEOUT) for _ in
                        range(workers if self.workload == "W2" else 1)]
        self.each_client(lambda client: client.start(PATIENCE_S))
        self.threads = [threading.Thread(target=self.work_on, args=[number],
                                         daemon=True)
                        for number in range(workers)]
        for thread in self.threads:
            thread.start()

    def each_client(self, action):
        with concurrent.futures.ThreadPoolExecutor(OPENERS) as pool:
            list(pool.map(action, self.clients))

    def work_on(self, number):
        client = self.clients[number % len(self.clients)]
        try:
            if self.workload in ("W1", "W1p"):
                self.cycle(client, f"{self.path}/{number}")
            else:
                self.contend(client)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    def cycle(self, client, path):
        while not self.stopping:
            began = time.perf_counter()
            with client.Lock(path):
                latency = time.perf_counter() - began
            self.meter.record(latency)

    def contend(self, client):
        while not self.stopping:
            with client.Lock(self.path):
                now = time.perf_counter()
                assert not self.held, "two hold the lock at the same time"
                self.held = True
                if self.left:
                    self.meter.record(now - self.left)
                if self.work and not self.stopping:
                    time.sleep(self.work)
                self.held = False
                self.left = time.perf_counter()

    def stop(self):
        """Lets each worker that waits have the lock once more."""
        self.stopping = True
        for thread in self.threads:
            thread.join()
        self.each_client(KazooClient.stop)
        self.each_client(KazooClient.close)


def serve(hosts):
    print(f"driver name=kazoo version={kazoo.version.__version__}"
          " workloads=W1,W1p,W2,W4", flush=True)
    run = None
    for line in iter(sys.stdin.readline, ""):
        command, *words = line.split()
        if command == "start":
            run = Run(hosts, dict(word.split("=", 1) for word in words))
            answer = "running"
        elif command == "sample":
            answer = run.meter.sample()
        else:
            run.stop()
            answer = "stopped"
        print(answer, flush=True)


threading.stack_size(STACK_BYTES)
serve(sys.argv[1])
