"""The plots, by matplotlib: the same results make the same files."""
import os

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402 pylint: disable=wrong-import-position

# Paul Tol's bright and muted schemes, which the colour-blind can tell apart.
# Each driver has its colour and mark in all plots.
STYLES = {
    "zklock": ("#EE6677", "o"),
    "zklock-luajit": ("#AA3377", "s"),
    "raw": ("#333333", "x"),
    "st": ("#888888", "+"),
    "curator": ("#4477AA", "^"),
    "go": ("#66CCEE", "v"),
    "node": ("#228833", "D"),
    "kazoo": ("#CCBB44", "P"),
    "redis": ("#BBBBBB", "*"),
}
OTHERS = ("#000000", ".")  # a driver of the user's own
SETTING = "one"
HANDOFFS = (2, 10, 50, 200, 1000)
LINE = {"linewidth": 1.6, "markersize": 5}

matplotlib.rcParams.update({
    "svg.hashsalt": "zklock",  # names of its elements
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "figure.facecolor": "white",
})


def _series(results, points, driver, metric, scale=1.0):
    """Of points (x, case): those x, medians and spreads that there are."""
    found = []
    for x, case in points:
        figure = results.figure(SETTING, case, driver, metric)
        if figure:
            found.append((x, figure.median * scale, figure.least * scale,
                          figure.greatest * scale))
    return found


def _line(axes, series, label, style, **options):
    if not series:
        return
    x, middle, low, high = zip(*series)
    colour, mark = style
    axes.plot(x, middle, marker=mark, color=colour, label=label,
              **{**LINE, **options})
    axes.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0)


def _lines(axes, results, points, metric, scale=1.0):
    present = {driver for _, case in points
               for driver in results.drivers(SETTING, case)}
    known = [driver for driver in STYLES if driver in present]
    others = sorted(d for d in present if "/" in d)
    for driver in known + others:
        # What this is about lies above the others.
        _line(axes, _series(results, points, driver, metric, scale),
              os.path.basename(driver), STYLES.get(driver, OTHERS),
              zorder=3 if driver.startswith("zklock") else 2)


def _finish(axes, points, xlabel, ylabel, title):
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([x for x, _ in points], [str(x) for x, _ in points])
    axes.minorticks_off()
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.set_title(title, loc="left", fontsize=10)
    axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(
        lambda value, _: f"{value:g}"))
    axes.yaxis.set_major_locator(matplotlib.ticker.LogLocator(
        subs=(1, 2, 5)))


def _save(figure, directory, name, legend_from):
    handles, labels = legend_from.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="center right")
    figure.savefig(os.path.join(directory, f"{name}.svg"),
                   metadata={"Date": None, "Creator": None})
    plt.close(figure)


def _two():
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.4))
    figure.subplots_adjust(left=0.075, right=0.83, bottom=0.15, top=0.9,
                           wspace=0.28)
    return figure, axes


def queue(results, directory):
    """What a handoff costs, by the length of the queue."""
    points = [(k, f"W2-{k}") for k in HANDOFFS]
    figure, (left, right) = _two()
    _lines(left, results, points, "p50_us", 1e-3)
    _finish(left, points, "sessions in the queue", "ms",
            "Handoff, median latency")
    _lines(right, results, points, "bytes", 1e-3)
    _finish(right, points, "sessions in the queue", "kB, both ways",
            "Bytes a handoff")
    _save(figure, directory, "queue", left)


def workers(results, directory):
    """Lock cycles a second, by the number of workers."""
    points = [(1, "W1")] + [(n, f"W1p-{n}") for n in (4, 16, 64, 256)]
    figure, axes = plt.subplots(figsize=(5.6, 3.4))
    figure.subplots_adjust(left=0.13, right=0.74, bottom=0.15, top=0.9)
    _lines(axes, results, points, "ops_s")
    _finish(axes, points, "workers of one session, a path each",
            "acquire and release, per second", "Throughput")
    _save(figure, directory, "workers", axes)


SCHEMES = {
    "": ("watch the predecessor", ("#EE6677", "o")),
    "-parent": ("watch the directory", ("#4477AA", "^")),
    "-poll": ("poll", ("#CCBB44", "P")),
}


def herd(results, directory):
    """Three ways to wait, by the length of the queue."""
    figure, (left, right) = _two()
    figure.subplots_adjust(right=0.77)
    for axes, metric, scale in ((left, "requests", 1), (right, "bytes", 1e-3)):
        for suffix, (label, style) in SCHEMES.items():
            points = [(k, f"W2-{k}{suffix}") for k in HANDOFFS[:4]]
            _line(axes, _series(results, points, "zklock", metric, scale),
                  label, style)
    points = [(k, "") for k in HANDOFFS[:4]]
    _finish(left, points, "sessions in the queue", "requests",
            "Requests a handoff")
    _finish(right, points, "sessions in the queue", "kB, both ways",
            "Bytes a handoff")
    _save(figure, directory, "herd", left)


def tail(results, directory):
    """The slow handoffs where holders work for two milliseconds."""
    points = [(k, f"W2-{k}-2ms") for k in HANDOFFS[:4]]
    figure, (left, right) = _two()
    for axes, metric, word in ((left, "p50_us", "median"),
                               (right, "p99_us", "99th percentile")):
        _lines(axes, results, points, metric, 1e-3)
        _finish(axes, points, "sessions in the queue", "ms",
                f"Handoff with 2 ms of work, {word}")
    _save(figure, directory, "tail", left)


def draw(results, directory):
    """All plots for which there is something to be drawn."""
    cases = results.cases(SETTING)
    os.makedirs(directory, exist_ok=True)
    for plot, prefix, suffix in ((queue, "W2-", ""), (workers, "W1", ""),
                                 (herd, "W2-", "-parent"),
                                 (tail, "W2-", "-2ms")):
        if any(c.startswith(prefix) and c.endswith(suffix) for c in cases):
            plot(results, directory)
