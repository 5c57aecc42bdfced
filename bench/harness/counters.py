"""What is counted from outside: requests by the server, bytes and segments by
the kernel, the server's CPU. Reading takes time while the driver goes on: so
everything is read just before and just after the driver's own sample, and its
value at the sample is taken from between the two. Where in between is a guess,
and on a machine that stalls a bad one: so what is sure is told as well."""
import re
import subprocess
import time
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Reading:
    """Of one counter at one moment."""
    low: float  # it was no less
    value: float  # it was about this
    high: float  # it was no more


def around(server, action):
    """Does the action; returns its result and a Reading of each counter then."""
    before = _read(server, SOURCES)
    moment, result = _timed(action)
    after = _read(server, SOURCES[::-1])
    readings = {}
    for name, (first, low) in before.items():
        last, high = after[name]
        part = (moment - first) / (last - first)
        readings[name] = Reading(low, low + (high - low) * part, high)
    return result, readings


def meanwhile(before, after):
    """Between two of them: how much was counted, and how much at least and at
    most."""
    counted = {name: after[name].value - before[name].value for name in after}
    bounds = {name: (after[name].low - before[name].high,
                     after[name].high - before[name].low) for name in after}
    return counted, bounds
