"""A process with kazoo's locks and what it builds on them.

It connects to the spec on 127.0.0.1 and does what the lines say that it
hears; it answers each with one line.

    peer.py HOSTS PORT
"""
import random
import re
import socket
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.hosts import collect_hosts
from kazoo.recipe import lock as recipe
from kazoo.recipe.barrier import Barrier, DoubleBarrier
from kazoo.recipe.election import Election
from kazoo.retry import ForceRetryError


class ReadLock(recipe.ReadLock):
    """kazoo's ReadLock, but it waits for *earlier* writers only.

    As it comes (2.8) it waits for later ones, too, and both sleep for ever:
    https://github.com/python-zk/kazoo/issues/649
    """

    def _get_predecessor(self, node):
        def number(child):
            return child[-10:]

        children = self.client.get_children(self.path)
        if node not in children:
            raise ForceRetryError()
        writers = [
            child
            for child in children
            if re.search(r"__lock__\d{10}$", child)
            and number(child) < number(node)
        ]
        return max(writers, key=number) if writers else None


class CuratorLock(recipe.Lock):
    """kazoo's Lock, spelled so that Curator, go-zookeeper and zklock see it."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


LOCKS = {
    "lock": recipe.Lock,
    "curator-lock": CuratorLock,
    "read": ReadLock,
    "write": recipe.WriteLock,
}


def note(file, *words):
    """A line of a file that many processes append to."""
    with open(file, "ab", buffering=0) as out:
        out.write((" ".join(words) + "\n").encode("utf-8"))


def stay(tally, name, mode="W"):
    note(tally, "+", mode, name)
    time.sleep(0.001)
    note(tally, "-", mode, name)


class Candidate:
    """One that leads until it resigns."""

    def __init__(self, client, path, name):
        self.election = Election(client, path, name)
        self.begun = threading.Event()
        self.end = threading.Event()
        self.thread = threading.Thread(target=self.campaign, daemon=True)
        self.thread.start()

    def campaign(self):
        self.election.run(self.lead)

    def lead(self):
        self.begun.set()
        self.end.wait()

    def resign(self):
        self.end.set()
        if not self.begun.is_set():
            self.election.cancel()
        self.thread.join()


class Peer:
    def __init__(self, hosts):
        self.hosts = hosts
        self.candidate = None
        self.gate = None
        self.lock = None
        self.connect()

    def connect(self):
        self.client = KazooClient(self.hosts, timeout=30)
        self.client.start()

    def reads(self, text):
        """What kazoo reads of a text of hosts."""
        hosts, chroot = collect_hosts(text)
        words = ["%s %d|" % (host, port) for host, port in hosts]
        return "".join(words) + (chroot or "")

    def renew(self):
        self.client.stop()
        self.connect()
        return "renewed"

    def campaign(self, kind, path, name):
        self.candidate = Candidate(self.client, path, name)
        return "campaigning"

    def leads(self):
        return "true" if self.candidate.begun.is_set() else "false"

    def resign(self):
        self.candidate.resign()
        return "resigned"

    def participants(self, kind, path):
        return " ".join(Election(self.client, path).contenders())

    def leader(self, kind, path):
        return (Election(self.client, path).contenders() or ["nobody"])[0]

    def contend(self, kind, path, tally, name, rounds):
        kinds = ["read", "write"] if kind == "rwlock" else [kind]
        if kind == "election":
            election = Election(self.client, path, name)
        else:
            locks = [LOCKS[word](self.client, path, name) for word in kinds]
        for _ in range(int(rounds)):
            if kind == "election":
                election.run(stay, tally, name)
                continue
            lock = random.choice(locks)
            assert lock.acquire(timeout=30)
            stay(tally, name, "R" if isinstance(lock, ReadLock) else "W")
            lock.release()
        return "done"

    def attempt(self, kind, path):
        self.lock = LOCKS[kind](self.client, path, "kazoo")
        return "held" if self.lock.acquire(blocking=False) else "refused"

    def release(self):
        self.lock.release()
        return "released"

    def contenders(self, kind, path):
        return " ".join(LOCKS[kind](self.client, path).contenders())

    def set(self, path):
        Barrier(self.client, path).create()
        return "set"

    def lift(self, path):
        Barrier(self.client, path).remove()
        return "lifted"

    def wait(self, path, ms):
        passed = Barrier(self.client, path).wait(int(ms) / 1000)
        return "passed" if passed else "refused"

    def enter(self, path, n, ledger, name, ms):
        """(kazoo has no time limit there.)"""
        self.gate = DoubleBarrier(self.client, path, int(n), name)
        note(ledger, "come", name)
        self.gate.enter()
        if not self.gate.participating:
            return "refused"
        note(ledger, "in", name)
        return "in"

    def leave(self, ledger, name, ms):
        note(ledger, "go", name)
        self.gate.leave()
        note(ledger, "out", name)
        return "out"


def main(hosts, port):
    peer = Peer(hosts)
    spec = socket.create_connection(("127.0.0.1", int(port)))
    spec.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    spec.sendall(b"ready\n")
    for line in spec.makefile():
        command, *words = line.split()
        try:
            answer = getattr(peer, command)(*words)
        except Exception as problem:
            answer = "failed: {!r}".format(problem)
        spec.sendall((answer + "\n").encode("utf-8"))
    peer.client.stop()


main(*sys.argv[1:])
