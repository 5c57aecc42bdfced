"""From samples to figures: medians over the rounds, with their spread."""
from dataclasses import dataclass
from statistics import median

BUCKET = 1.05  # a bucket ends where the next one begins, at the latest here


def percentile(hist, part):
    """In µs, from buckets; None if nothing is in them."""
    total = sum(count for _, count in hist)
    if total == 0:
        return None
    seen = 0
    for low, count in sorted(hist):
        seen += count
        if seen >= part * total:
            return low * (1 + BUCKET) / 2
    return None


@dataclass(frozen=True)
class Figure:
    """A median, the least and the greatest, over so many rounds."""
    median: float
    least: float
    greatest: float
    rounds: int


def figure(values):
    values = [value for value in values if value is not None]
    if not values:
        return None
    return Figure(median(values), min(values), max(values), len(values))


# Metrics of a sample, beside those that it has by its own name.
DERIVED = {
    "ops_s": lambda s: s["ops"] / s["seconds"],
    "p50_us": lambda s: percentile(s["hist"], 0.5),
    "p99_us": lambda s: percentile(s["hist"], 0.99),
    "client_cpu_us": lambda s: s["cpu_us"] / s["ops"]
    if "cpu_us" in s else None,
    "total_cpu_us": lambda s: s["cpu_us"] / s["ops"] + s["server_cpu_us"]
    if "cpu_us" in s else None,
    "bytes": lambda s: s["bytes_out"] + s["bytes_in"]
    if "bytes_out" in s else None,
    "memory_per_lock": lambda s: s["memory_bytes"] / s["ops"]
    if "memory_bytes" in s else None,
}


def value(sample, metric):
    """None if the sample does not have it."""
    if "error" in sample:
        return None
    if metric in DERIVED:
        return DERIVED[metric](sample)
    return sample.get(metric)


class Results:
    """Asked by setting, case and driver."""

    def __init__(self, samples):
        self.cells = {}
        for sample in samples:
            key = sample["setting"], sample["case"], sample["driver"]
            self.cells.setdefault(key, {})[sample["round"]] = sample

    def settings(self):
        return list(dict.fromkeys(key[0] for key in self.cells))

    def cases(self, setting):
        return list(dict.fromkeys(
            key[1] for key in self.cells if key[0] == setting))

    def drivers(self, setting, case):
        return [key[2] for key in self.cells if key[:2] == (setting, case)]

    def _by_round(self, setting, case, driver, metric):
        samples = self.cells.get((setting, case, driver), {})
        values = {n: value(sample, metric) for n, sample in samples.items()}
        return {n: v for n, v in values.items() if v is not None}

    def figure(self, setting, case, driver, metric):
        return figure(self._by_round(setting, case, driver, metric).values())

    def error(self, setting, case, driver):
        """Why there is no figure; None if there is one."""
        samples = self.cells.get((setting, case, driver), {}).values()
        if any("error" not in sample for sample in samples):
            return None
        return next((s["error"] for s in samples), "not run")

    def failures(self, setting, case, driver):
        """In how many rounds it failed."""
        samples = self.cells.get((setting, case, driver), {}).values()
        return sum("error" in sample for sample in samples)

    def ratio(self, metric, one, other):
        """The ratio of the medians of two (setting, case, driver); the spread is
        of the ratios in each round."""
        ours, theirs = self._by_round(*one, metric), self._by_round(*other, metric)
        if not ours or not theirs or not median(theirs.values()):
            return None
        ratios = [ours[n] / theirs[n] for n in ours if theirs.get(n)]
        of_medians = median(ours.values()) / median(theirs.values())
        return Figure(of_medians, min(ratios, default=of_medians),
                      max(ratios, default=of_medians), len(ratios))

    def best(self, setting, case, drivers, metric, most):
        """Who of the drivers has the best median; None if none has one."""
        figures = {d: self.figure(setting, case, d, metric) for d in drivers}
        figures = {d: f.median for d, f in figures.items() if f}
        if not figures:
            return None
        return (max if most else min)(figures, key=figures.get)
