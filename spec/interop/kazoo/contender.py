"""A process with kazoo's locks.

It connects to the spec on 127.0.0.1 and does what the lines say that it
hears; it answers each with one line.

    contender.py HOSTS PORT
"""
import random
import re
import socket
import sys
import time

from kazoo.client import KazooClient
from kazoo.recipe import lock as recipe
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


class Tally:
    """The same witness that the Lua processes write to: tally.lua."""

    def __init__(self, file, name):
        self.file = open(file, "ab", buffering=0)
        self.name = name

    def write(self, sign, mode):
        line = "{} {} {}\n".format(sign, mode, self.name)
        self.file.write(line.encode("utf-8"))

    def stay(self, mode):
        self.write("+", mode)
        time.sleep(0.001)
        self.write("-", mode)


def contend(client, kind, path, file, name, rounds):
    tally = Tally(file, name)
    locks = {
        word: LOCKS[word](client, path, name)
        for word in (["read", "write"] if kind == "rwlock" else [kind])
    }
    for _ in range(int(rounds)):
        word = random.choice(list(locks))
        lock = locks[word]
        assert lock.acquire(timeout=30)
        if word == "read":
            tally.stay("R")
        else:
            tally.stay("W")
        lock.release()
    return "done"


class Contender:
    def __init__(self, hosts):
        self.client = KazooClient(hosts, timeout=30)
        self.client.start()
        self.lock = None

    def obey(self, command, *words):
        if command == "contend":
            return contend(self.client, *words)
        if command == "try":
            kind, path = words
            self.lock = LOCKS[kind](self.client, path, "kazoo")
            return "held" if self.lock.acquire(blocking=False) else "refused"
        if command == "release":
            self.lock.release()
            return "released"
        if command == "contenders":
            kind, path = words
            return " ".join(LOCKS[kind](self.client, path).contenders())
        raise ValueError(command)


def main(hosts, port):
    contender = Contender(hosts)
    spec = socket.create_connection(("127.0.0.1", int(port)))
    spec.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    spec.sendall(b"ready\n")
    for line in spec.makefile():
        try:
            answer = contender.obey(*line.split())
        except Exception as problem:
            answer = "failed: {!r}".format(problem)
        spec.sendall((answer + "\n").encode("utf-8"))
    contender.client.stop()


main(*sys.argv[1:])
