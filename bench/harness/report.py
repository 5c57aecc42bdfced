"""The tables, in Markdown that reads well as it is."""
from .cases import ALL
from .targets import PEERS, WORDS, judge_all

COLUMNS = ["driver", "ops/s", "spread", "p50 ms", "p99 ms", "requests",
           "segments", "bytes", "CPU µs server", "client", "× raw",
           "zklock is ×"]


def number(value, digits=3):
    """So many digits that count, and no more."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def _median(figure, scale=1.0):
    return number(figure.median * scale) if figure else "–"


def _range(figure):
    if not figure or figure.rounds < 2:
        return ""
    return f"{number(figure.least)}–{number(figure.greatest)}"


def _ratio(figure):
    if not figure:
        return "–"
    spread = _range(figure)
    return f"{figure.median:.2f}" + (f" ({spread})" if spread else "")


def layout(rows):
    """A Markdown table whose columns stand under each other."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for n, row in enumerate(rows):
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in
                  zip(row[1:], widths[1:])]
        lines.append("| " + " | ".join(cells) + " |")
        if n == 0:
            rule = ["-" * widths[0]] + ["-" * (w - 1) + ":" for w in widths[1:]]
            lines.append("| " + " | ".join(rule) + " |")
    return "\n".join(lines)


def _row(results, setting, case, driver):
    def figure(metric):
        return results.figure(setting, case, driver, metric)

    error = results.error(setting, case, driver)
    if error:
        return [driver, error] + [""] * (len(COLUMNS) - 2)
    failures = results.failures(setting, case, driver)
    cell = setting, case, driver
    ours = setting, case, "zklock"
    return [
        driver + (f" (failed {failures} times)" if failures else ""),
        _median(figure("ops_s")), _range(figure("ops_s")),
        _median(figure("p50_us"), 1e-3), _median(figure("p99_us"), 1e-3),
        _median(figure("requests")), _median(figure("segments_out")),
        _median(figure("bytes")), _median(figure("server_cpu_us")),
        _median(figure("client_cpu_us")),
        _ratio(results.ratio("ops_s", cell, (setting, case, "raw"))),
        "" if driver == "zklock" else
        _ratio(results.ratio("ops_s", ours, cell)),
    ]


EXTRAS = {
    "memory_per_lock": "bytes of memory a lock",
    "reconnect_us": "µs from a broken connection until all is in order",
    "close_us": "µs to close",
}


def _extras(results, setting, case):
    lines = []
    for driver in results.drivers(setting, case):
        found = [f"{_median(figure)} {words}" for metric, words in
                 EXTRAS.items()
                 if (figure := results.figure(setting, case, driver, metric))]
        if found:
            lines.append(f"{driver}: {', '.join(found)}.")
    return "\n".join(lines)


def table(results, setting, case):
    """All drivers in one case, the quickest first."""
    def speed(driver):
        figure = results.figure(setting, case, driver, "ops_s")
        return -figure.median if figure else 0

    drivers = sorted(results.drivers(setting, case), key=speed)
    rows = [COLUMNS] + [_row(results, setting, case, d) for d in drivers]
    extras = _extras(results, setting, case)
    title = ALL[case].title if case in ALL else case
    return f"### {title}\n\n{layout(rows)}" + (f"\n\n{extras}" if extras else "")


def targets(results, setting):
    """Each target, met or not; None if none belongs to what was measured."""
    verdicts = judge_all(results, setting)
    if not verdicts:
        return None
    rows = [["target", "goal", "measured", "spread", ""]]
    for verdict in verdicts:
        target, figure = verdict.target, verdict.figure
        sign = "≥" if target.least else "<" if target.below else "≤"
        times = " ×" if target.against else ""
        against = f" ÷ {target.against}" if target.against else ""
        if verdict.rival != target.against:
            against += f" ({verdict.rival or 'none ran'})"
        rows.append([
            f"{target.case}, {target.driver}{against}, {WORDS[target.metric]}",
            f"{sign} {number(target.goal)}{times}",
            _median(figure), _range(figure), verdict.word])
    met = sum(v.word == "met" for v in verdicts)
    return f"{layout(rows)}\n\n{met} of {len(verdicts)} targets are met."


# What is said in short: a metric, what it is called, its scale, who is better.
OVERVIEW = [
    ("ops_s", "operations a second", 1, "more"),
    ("p99_us", "p99 of the latency, ms", 1e-3, "less"),
    ("total_cpu_us", "CPU µs an operation, server and client", 1, "less"),
    ("requests", "requests an operation", 1, "less"),
    ("bytes", "bytes an operation, both ways", 1, "less"),
]
FIRST = ["raw", "st", "zklock", "zklock-luajit"]


def _overview(results, setting, metric, scale, better):
    cases = [case for case in results.cases(setting)
             if results.figure(setting, case, "zklock", metric)]
    drivers = [d for d in FIRST + PEERS
               if any(results.figure(setting, case, d, metric)
                      for case in cases)]
    rows = [["", *drivers, "ratio of zklock to best peer (range)"]]
    for case in cases:
        rival = results.best(setting, case, PEERS, metric, better == "more")
        ratio = rival and results.ratio(
            metric, (setting, case, "zklock"), (setting, case, rival))
        rows.append([case, *(
            _median(results.figure(setting, case, d, metric), scale)
            for d in drivers), _ratio(ratio)])
    return layout(rows) if len(rows) > 1 else None


def overview(results, setting):
    """Everybody in one table for each metric."""
    tables = [(words, _overview(results, setting, metric, scale, better))
              for metric, words, scale, better in OVERVIEW]
    return "\n\n".join(f"### In short: {words}\n\n{table}"
                       for words, table in tables if table)


SETTINGS = {
    "one": "One server, its data in memory",
    "ensemble": "An ensemble of three, their data in memory",
    "disk": "One server, its log synced to a disk",
}


def print_all(results, out):
    """Everything, on the file."""
    for setting in results.settings():
        print(f"\n## {SETTINGS.get(setting, setting)}\n", file=out)
        short = overview(results, setting)
        if short:
            print(short + "\n", file=out)
        for case in results.cases(setting):
            print(table(results, setting, case) + "\n", file=out)
        if setting == results.settings()[0]:
            text = targets(results, setting)
            if text:
                print(f"## Targets\n\n{text}\n", file=out)
