"""Kazoo's locks behind the protocol of bench/README.md.

    driver.py HOSTS              what the harness starts
    driver.py cold HOSTS PATH    one cold start: W6 starts it again and again

Every worker is a thread, every session a KazooClient with its own connection.
Each acquisition takes a new Lock from the client: one that is used again lists
the children once more, to look for a node that it might have left behind, and
so costs a request of the size of the queue where a new one costs an `exists`.
"""
import collections
import concurrent.futures
import math
import random
import re
import subprocess
import sys
import threading
import time

import kazoo.version
from kazoo.client import KazooClient

SESSION_TIMEOUT = 30
COLD_STARTS = 20
# Sessions that are opened or closed at the same time.
OPENERS = 16
# Seconds to wait for workers to end; less if one has failed.
PATIENCE, LITTLE_PATIENCE = 60, 5
# Threads that mostly sleep need little of a stack, and there are thousands.
STACK_BYTES = 256 * 1024

VERSION = kazoo.version.__version__
WORKLOADS = ["W1", "W1p", "W2", "W4", "W6"]
# Before, a reader waits for later writers too: readers and writers that come in
# a row sleep for ever (python-zk/kazoo#649).
if tuple(map(int, re.findall(r"\d+", VERSION)[:2])) >= (2, 9):
    WORKLOADS.insert(3, "W3")

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
        histogram = ",".join(
            f"{1.05 ** bucket:.2f}:{count}"
            for bucket, count in sorted(counts.items())
        )
        return (
            f"sample ops={sum(counts.values())} seconds={elapsed:.6f}"
            f" cpu_us={used * 1e6:.0f} hist={histogram}"
        )


class Witness:
    """Knows who holds the lock, and since when it is free.

    A holder leaves before it lets the lock go, and enters once it has it: two
    that are in at the same time prove that the lock does not exclude.
    """

    def __init__(self):
        self.lock = threading.Lock()
        self.readers = self.writers = 0
        self.left = None

    def enter(self, reads=False):
        now = time.perf_counter()
        with self.lock:
            if self.writers or (self.readers and not reads):
                raise AssertionError("two hold the lock at the same time")
            if reads:
                self.readers += 1
            else:
                self.writers += 1
            return self.left and now - self.left

    def leave(self, reads=False):
        with self.lock:
            if reads:
                self.readers -= 1
            else:
                self.writers -= 1
            self.left = time.perf_counter()


class Run:
    """A workload between `start` and `stop`."""

    def __init__(self, hosts, words):
        self.hosts = hosts
        self.workload = words["workload"]
        self.path = words["path"]
        self.workers = int(words.get("workers", 1))
        self.work = int(words.get("work_us", 0)) / 1e6
        self.read_percent = int(words.get("read_percent", 95))
        self.meter = Meter()
        self.witness = Witness()
        self.stopping = False
        self.problem = None
        self.clients = []
        self.threads = []
        warm = int(words.get("warm_ms", 300)) / 1e3
        try:
            self.open(self.workers if self.workload in ("W2", "W3") else 1)
            self.begin()
            time.sleep(warm)
        except Exception as problem:
            self.problem = problem
            self.stop()
        self.meter.restart()

    def open(self, count):
        self.clients = [
            KazooClient(self.hosts, timeout=SESSION_TIMEOUT)
            for _ in range(count)
        ]
        with concurrent.futures.ThreadPoolExecutor(OPENERS) as pool:
            list(pool.map(lambda client: client.start(PATIENCE), self.clients))

    def begin(self):
        loop = {
            "W1": self.cycle,
            "W1p": self.cycle,
            "W2": self.contend,
            "W3": self.read_or_write,
            "W4": self.contend,
        }[self.workload]
        for number in range(self.workers):
            client = self.clients[number % len(self.clients)]
            own_path = self.workload in ("W1", "W1p")
            path = f"{self.path}/{number}" if own_path else self.path
            thread = threading.Thread(
                target=self.guarded, args=(loop, client, path, number)
            )
            thread.daemon = True
            self.threads.append(thread)
            thread.start()

    def guarded(self, loop, *arguments):
        try:
            loop(*arguments)
        except Exception as problem:
            self.problem = self.problem or problem
            self.stopping = True

    # ---- What a worker does ------------------------------------------------

    def cycle(self, client, path, _):
        while not self.stopping:
            began = time.perf_counter()
            with client.Lock(path):
                latency = time.perf_counter() - began
            self.meter.record(latency)

    def contend(self, client, path, _):
        while not self.stopping:
            with client.Lock(path):
                latency = self.witness.enter()
                if latency is not None:
                    self.meter.record(latency)
                if self.work and not self.stopping:
                    time.sleep(self.work)
                self.witness.leave()

    def read_or_write(self, client, path, number):
        generator = random.Random(number)
        while not self.stopping:
            reads = generator.randrange(100) < self.read_percent
            began = time.perf_counter()
            with client.ReadLock(path) if reads else client.WriteLock(path):
                self.meter.record(time.perf_counter() - began)
                self.witness.enter(reads)
                self.witness.leave(reads)

    # ---- What the harness says ---------------------------------------------

    def sample(self):
        if self.problem:
            raise self.problem
        return self.meter.sample()

    def stop(self):
        """Lets everyone who waits have the lock once more, then leaves."""
        self.stopping = True
        patience = LITTLE_PATIENCE if self.problem else PATIENCE
        deadline = time.monotonic() + patience
        for thread in self.threads:
            thread.join(max(0, deadline - time.monotonic()))
            if thread.is_alive():
                self.problem = self.problem or TimeoutError("a worker waits")
                break
        if not self.problem:
            self.clients[0].delete(self.path, recursive=True)
        with concurrent.futures.ThreadPoolExecutor(OPENERS) as pool:
            list(pool.map(close, self.clients))
        if self.problem:
            raise self.problem


def close(client):
    client.stop()
    client.close()


class ColdRun:
    """W6: each sample is some cold starts, each of a process of its own."""

    def __init__(self, hosts, words):
        self.hosts, self.path = hosts, words["path"]

    def sample(self):
        meter, closing = Meter(), 0
        for _ in range(COLD_STARTS):
            began = time.perf_counter()
            command = [sys.executable, __file__, "cold", self.hosts, self.path]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
                held = process.stdout.readline() == b"held\n"
                holding = time.perf_counter()
                if process.wait() != 0 or not held:
                    raise RuntimeError("a cold start failed")
            closing += time.perf_counter() - holding
            meter.record(holding - began)
        mean_us = closing / COLD_STARTS * 1e6
        return f"{meter.sample()} close_us={mean_us:.0f}"

    def stop(self):
        client = KazooClient(self.hosts, timeout=SESSION_TIMEOUT)
        client.start()
        client.delete(self.path, recursive=True)
        close(client)


def cold(hosts, path):
    client = KazooClient(hosts, timeout=SESSION_TIMEOUT)
    client.start()
    with client.Lock(path):
        print("held", flush=True)
    close(client)


class Driver:
    def __init__(self, hosts):
        self.hosts = hosts
        self.run = None

    def obey(self, command, words):
        if command == "start":
            if self.run:
                raise ValueError("a workload is running")
            if words.get("workload") not in WORKLOADS or "local_turns" in words:
                return "unsupported"
            if words.get("scheme"):
                return "unsupported"
            kind = ColdRun if words["workload"] == "W6" else Run
            self.run = kind(self.hosts, words)
            return "running"
        if command not in ("sample", "stop"):
            raise ValueError("there is no command " + command)
        if not self.run:
            raise ValueError("nothing is running")
        if command == "sample":
            return self.run.sample()
        run, self.run = self.run, None
        run.stop()
        return "stopped"


def serve(hosts):
    threading.stack_size(STACK_BYTES)
    driver = Driver(hosts)
    print(
        f"driver protocol=1 name=kazoo version={VERSION}"
        f" workloads={','.join(WORKLOADS)}",
        flush=True,
    )
    for line in iter(sys.stdin.readline, ""):
        command, *rest = line.split() or [""]
        if command == "quit":
            break
        try:
            words = dict(word.split("=", 1) for word in rest)
            answer = driver.obey(command, words)
        except Exception as problem:
            text = "_".join(repr(problem).split())
            answer = f"error text={text}"
        print(answer, flush=True)
    if driver.run:
        driver.run.stop()


if sys.argv[1] == "cold":
    cold(*sys.argv[2:])
else:
    serve(sys.argv[1])
