"""What is counted from outside: requests by the server, bytes and segments by
the kernel, the server's CPU. Reading takes time while the driver goes on: so
everything is read just before and just after the driver's own sample, and its
value at the sample is taken from between the two."""
import re
import subprocess
import time

from . import process

FIELDS = {
    "bytes_out": "bytes_sent",
    "bytes_in": "bytes_received",
    "segments_out": "data_segs_out",
    "segments_in": "data_segs_in",
}


def _sockets(server):
    """Of all connections of clients to the server together."""
    ports = " or ".join(f"dport = :{port}" for port in server.ports)
    out = subprocess.run(
        ["ss", "-tinOH", "state", "established", f"( {ports} )"],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    return {name: sum(map(int, re.findall(rf"\b{key}:(\d+)", out)))
            for name, key in FIELDS.items()}


def _timed(read):
    begun = time.monotonic()
    value = read()
    return (begun + time.monotonic()) / 2, value


SOURCES = [
    _sockets,
    lambda server: {"server_cpu_us": sum(map(process.cpu_us, server.pids))},
    lambda server: {"requests": server.requests()},
]


def _read(server, sources):
    """Of each counter the moment and the value."""
    found = {}
    for source in sources:
        moment, values = _timed(lambda: source(server))
        for name, value in values.items():
            found[name] = moment, value
    return found


def around(server, action):
    """Does the action; returns its result and the counters at that moment."""
    before = _read(server, SOURCES)
    moment, result = _timed(action)
    after = _read(server, SOURCES[::-1])
    counters = {}
    for name, (first, low) in before.items():
        last, high = after[name]
        part = (moment - first) / (last - first)
        counters[name] = low + (high - low) * part
    return result, counters


def across(server, action):
    """Does the action; returns its result and what was counted meanwhile."""
    before = _read(server, SOURCES)
    result = action()
    after = _read(server, SOURCES)
    return result, {name: after[name][1] - before[name][1] for name in after}
