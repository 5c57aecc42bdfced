"""What the plots show, as a table: doc/pictures/make/plots.lua draws it."""
import os
import subprocess

DRAW = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                    "doc", "pictures", "draw")

SETTING = "one"
HANDOFFS = (2, 10, 50, 200, 1000)
HEADING = ("plot", "panel", "series", "x", "median", "least", "greatest")
SCHEMES = {"": "watch the predecessor", "-parent": "watch the directory",
           "-poll": "poll"}


def _rows(results, where, series, driver, points, metric, scale):
    """Of points (x, case): a row for each that there is."""
    for x, case in points:
        figure = results.figure(SETTING, case, driver, metric)
        if figure:
            yield (*where, series, x, figure.median * scale,
                   figure.least * scale, figure.greatest * scale)


def _drivers(results, points):
    """In the order of the lineup; those of the user's own, with a slash in
    their names, at last."""
    known = ["zklock", "zklock-luajit", "raw", "st", "curator", "go", "node",
             "kazoo"]
    present = {driver for _, case in points
               for driver in results.drivers(SETTING, case)}
    return ([d for d in known if d in present] +
            sorted(d for d in present if "/" in d))


def _panel(results, where, points, metric, scale=1.0):
    for driver in _drivers(results, points):
        yield from _rows(results, where, driver, driver, points, metric, scale)


def _schemes(results, where, metric, scale=1.0):
    for suffix, label in SCHEMES.items():
        points = [(k, f"W2-{k}{suffix}") for k in HANDOFFS[:4]]
        yield from _rows(results, where, label, "zklock", points, metric,
                         scale)


def collect(results):
    """All rows."""
    cases = results.cases(SETTING)
    queue = [(k, f"W2-{k}") for k in HANDOFFS]
    workers = [(1, "W1")] + [(n, f"W1p-{n}") for n in (4, 16, 64, 256)]
    working = [(k, f"W2-{k}-2ms") for k in HANDOFFS[:4]]
    yield from _panel(results, ("queue", "latency"), queue, "p50_us", 1e-3)
    yield from _panel(results, ("queue", "bytes"), queue, "bytes", 1e-3)
    yield from _panel(results, ("workers", "throughput"), workers, "ops_s")
    if any(case.endswith("-parent") for case in cases):
        yield from _schemes(results, ("herd", "requests"), "requests")
        yield from _schemes(results, ("herd", "bytes"), "bytes", 1e-3)
    yield from _panel(results, ("tail", "median"), working, "p50_us", 1e-3)
    yield from _panel(results, ("tail", "p99"), working, "p99_us", 1e-3)


def _spell(value):
    """Five digits that count, as many as a plot shows."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if value >= 1e5 else f"{value:.5g}"


def draw(results, directory):
    """Writes points.tsv and the plots into the directory; returns the exit code
    of the program that draws."""
    path = os.path.join(directory, "points.tsv")
    with open(path, "w", encoding="utf-8") as file:
        for row in (HEADING, *collect(results)):
            print(*map(_spell, row), sep="\t", file=file)
    return subprocess.run([os.environ.get("LUA", "lua5.4"), DRAW, "plots", path,
                           directory], check=False).returncode
