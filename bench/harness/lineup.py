"""Who takes part: the drivers and how they are started, as data."""
import os
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass
class Entry:
    name: str
    # floor; own: zklock, or the user's; peer
    group: str
    command: list
    build: list = field(default_factory=list)
    # Of the cases' names; None: all that it can do.
    cases: list = None


def _path(*parts):
    return os.path.join(HERE, *parts)


def _make(*words):
    return ["make", "-s", "-C", os.path.dirname(HERE),
            f"BUILD={os.environ['BUILD']}", *words]


def _floor(name, *flags, cases=None):
    program = os.path.join(os.environ["BUILD"], "bench", "floor")
    return Entry(name, "floor", [program, *flags], _make("bench-floor"),
                 cases=cases)


def _zklock(name, lua, loop, cases=None):
    version = "5.1" if lua == "luajit" else lua
    return Entry(name, "own",
                 [_path("driver"), "--lua", lua, "--loop", loop],
                 _make("bench-zklock", f"LUA_VERSION={version}"), cases=cases)


def _peer(name):
    return Entry(name, "peer", [_path("drivers", name, "run")],
                 [_path("drivers", name, "build")])


LOOP_CASES = ["W1", "W1p-64", "W2-10", "W2-50", "W2-10-2ms", "W4-64",
              "W4-64-h64"]


def everybody():
    """All that are known; the colours of the plots are in this order."""
    return [
        _floor("raw"),
        _floor("raw-list", "--list",
               cases=["W2-2", "W2-10", "W2-50", "W2-200", "W2-1000"]),
        _floor("st", "--st"),
        _zklock("zklock", "5.4", "poll"),
        _zklock("zklock-luajit", "luajit", "poll"),
        _zklock("zklock-luv", "5.4", "luv", LOOP_CASES),
        _zklock("zklock-cqueues", "5.4", "cqueues", LOOP_CASES),
        _zklock("zklock-luajit-luv", "luajit", "luv", LOOP_CASES),
        _zklock("zklock-luajit-cqueues", "luajit", "cqueues", LOOP_CASES),
        _peer("curator"),
        _peer("go"),
        _peer("node"),
        _peer("kazoo"),
    ]


MAIN = ["raw", "raw-list", "st", "zklock", "zklock-luajit", "curator", "go",
        "node", "kazoo"]


def names(plan):
    """Of those that take part if nobody is chosen."""
    return [e.name for e in everybody()] if plan == "full" else MAIN


def choose(wanted):
    """The entries of those names; a name with a slash is an executable."""
    known = {entry.name: entry for entry in everybody()}
    chosen = []
    for name in wanted:
        if name in known:
            chosen.append(known[name])
        elif "/" in name:
            chosen.append(Entry(name, "own", [os.path.abspath(name)]))
        else:
            raise SystemExit(f"bench: there is no driver {name}; known are "
                             f"{', '.join(known)}, and any executable's path")
    return chosen
