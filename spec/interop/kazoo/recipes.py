"""A process with what kazoo builds on locks.

It connects to the spec on 127.0.0.1 and does what the lines say that it
hears; it answers each with one line.

    recipes.py HOSTS PORT [SESSION_S]
"""
import os
import socket
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.recipe.barrier import Barrier, DoubleBarrier
from kazoo.recipe.election import Election


def note(file, *words):
    """A line of a file that many processes append to."""
    with open(file, "ab", buffering=0) as out:
        out.write((" ".join(words) + "\n").encode("utf-8"))


def lead(tally, name):
    note(tally, "+", "W", name)
    time.sleep(0.001)
    note(tally, "-", "W", name)


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


class Recipes:
    def __init__(self, hosts, session_s):
        self.hosts = hosts
        self.session_s = session_s
        self.candidate = None
        self.gate = None
        self.connect()

    def connect(self):
        self.client = KazooClient(self.hosts, timeout=self.session_s)
        self.client.start()

    def pid(self):
        return str(os.getpid())

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
        election = Election(self.client, path, name)
        for _ in range(int(rounds)):
            election.run(lead, tally, name)
        return "done"

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


COMMANDS = (
    "pid renew campaign leads resign participants leader contend "
    "set lift wait enter leave"
).split()


def main(hosts, port, session_s="30"):
    recipes = Recipes(hosts, float(session_s))
    spec = socket.create_connection(("127.0.0.1", int(port)))
    spec.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    spec.sendall(b"ready\n")
    for line in spec.makefile():
        command, *words = line.split()
        try:
            if command not in COMMANDS:
                raise ValueError(command)
            answer = getattr(recipes, command)(*words)
        except Exception as problem:
            answer = "failed: {!r}".format(problem)
        spec.sendall((answer + "\n").encode("utf-8"))
    recipes.client.stop()


main(*sys.argv[1:])
