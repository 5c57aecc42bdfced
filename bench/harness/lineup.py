"""Who takes part: the drivers and how they are started, as data."""
import os
from dataclasses import dataclass

DRIVERS = os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "drivers")


@dataclass(frozen=True)
class Entry:
    name: str
    command: list
    zklock: bool = False  # it can do the cases that only zklock has


def _entry(name, directory, *flags, zklock=False):
    return Entry(name, [os.path.join(DRIVERS, directory, "run"), *flags],
                 zklock)


KNOWN = {entry.name: entry for entry in [
    _entry("raw", "floor"),
    _entry("st", "floor", "--st"),
    _entry("zklock", "zklock", zklock=True),
    _entry("zklock-luajit", "zklock", "--lua", "luajit", zklock=True),
    *(_entry(peer, peer) for peer in ("curator", "go", "node", "kazoo")),
]}


def choose(wanted):
    """The entries of those names, or all; a name with a slash is an
    executable."""
    unknown = [name for name in wanted
               if name not in KNOWN and "/" not in name]
    if unknown:
        raise SystemExit(f"bench: there is no driver {' '.join(unknown)}; known"
                         f" are {', '.join(KNOWN)}, and any executable's path")
    return [KNOWN.get(name) or Entry(name, [os.path.abspath(name)])
            for name in wanted or KNOWN]
