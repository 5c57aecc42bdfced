"""Measures: in each round every driver does each case once, against the same
server. All samples are kept."""
import random
import sys
import time

from . import counters
from .drivers import Driver, Failure

STOP_S = 120
# Between two looks at a warm-up.
LOOK_S = 0.05, 0.25
# A cell that has taken longer is run in every third round only, as is a heavy
# case.
EXPENSIVE_S = 6
EXPENSIVE_EVERY = 3
SAMPLE_S = 30
ONCE_S = 180
# Opening a session takes milliseconds; some libraries open one at a time.
START_S = 30
START_PER_SESSION_S = 0.15
# Of the server, and of the JIT compilers.
WARM_UP_WORDS = "workload=W2 workers=10 work_us=0"
# After W5 has taken its locks: the requests that follow the grants are over.
CALM_S = 10


def say(text):
    print(text, file=sys.stderr, flush=True)


class Stage:
    """The server of a run and the drivers on it."""

    def __init__(self, entries, server, log_directory, patience):
        self.server = server
        self.drivers = [
            Driver(entry, server.hosts,
                   f"{log_directory}/driver-{number}.log", patience)
            for number, entry in enumerate(entries)]
        self.paths = 0
        self.took = {}  # (driver, case's name) → how many seconds, the last time

    # ---- One case by one driver ----

    def _begin(self, driver, words, sessions, warm_s):
        self.paths += 1
        driver.ask(f"start {words} path=/bench/p{self.paths}", "running",
                   START_S + START_PER_SESSION_S * sessions)
        time.sleep(warm_s)

    @staticmethod
    def _warm(driver, case):
        """Waits until so many operations were done, or it takes too long; returns
        their number."""
        wanted, done = case.warm_ops(), 0
        begun = time.monotonic()
        pause = 0
        while done < wanted:
            sample = driver.sample(SAMPLE_S + pause)
            done += int(sample["ops"])
            left = begun + case.warm_most_s() - time.monotonic()
            if left <= 0:
                break
            pause = sample["seconds"] * (wanted - done) / max(sample["ops"], 1)
            pause = min(max(pause, LOOK_S[0]), LOOK_S[1], left)
            if done < wanted:
                time.sleep(pause)
        return done

    def _watch(self, driver, case, seconds):
        """The driver's sample, and what was counted meanwhile."""
        warm_ops = self._warm(driver, case)
        _, before = counters.around(
            self.server, lambda: driver.sample(SAMPLE_S))
        seconds = max(seconds, case.least_s)
        time.sleep(seconds)
        sample, after = counters.around(
            self.server, lambda: driver.sample(SAMPLE_S + seconds))
        counted, bounds = counters.meanwhile(before, after)
        ops = sample["ops"] or 1
        sample.update({name: value / ops for name, value in counted.items()})
        sample["bounds"] = {name: [bound / ops for bound in both]
                            for name, both in bounds.items()}
        if warm_ops:
            sample["warm_ops"] = warm_ops
        return sample

    @staticmethod
    def _once(driver, case):
        """The first sample of a new process; of W5 a second one, in which the
        driver breaks its connection."""
        sample = driver.sample(ONCE_S)
        del sample["cpu_us"]  # of W6 most is the new processes'
        if case.breaks:
            time.sleep(CALM_S)
            sample["reconnect_us"] = driver.sample(ONCE_S)["reconnect_us"]
        return sample

    def cell(self, driver, case, seconds, warm_s):
        """What the driver does in this case: a sample, or {"error": …}."""
        try:
            driver.ensure()
            if not driver.can(case):
                return {"error": "unsupported"}
            if case.once:
                driver.quit()
                driver.ensure()
            self._begin(driver, case.words, case.sessions,
                        0 if case.once else warm_s)
            sample = self._once(driver, case) if case.once else \
                self._watch(driver, case, seconds)
            driver.ask("stop", "stopped", STOP_S)
        except Failure as failure:
            say(f"  {driver.entry.name}: {failure}")
            return {"error": str(failure)}
        driver.failures = 0
        return sample if sample["ops"] else {"error": "nothing was done"}

    def warm_up(self, seconds):
        """Nothing of this is counted."""
        for driver in self.drivers:
            try:
                driver.ensure()
                self._begin(driver, WARM_UP_WORDS, 10, seconds)
                driver.ask("stop", "stopped", STOP_S)
            except Failure as failure:
                say(f"  {driver.entry.name}: {failure}")

    # ---- Rounds ----

    @staticmethod
    def takes_part(driver, case):
        return driver.entry.zklock or not case.own

    def _due(self, case, number):
        """The drivers that run the case in this round."""
        seldom = number % EXPENSIVE_EVERY > 0
        if seldom and case.heavy():
            return []
        return [d for d in self.drivers if self.takes_part(d, case) and not (
            seldom and self.took.get((d, case.name), 0) > EXPENSIVE_S)]

    def rounds(self, plan, setting, seed):
        """All samples, in the order in which they were made. What does not fit
        into the time any more is left out; the first round is whole."""
        samples = []
        deadline = time.monotonic() + plan.minutes * 60
        shuffle = random.Random(seed)
        for number in range(plan.rounds):
            for case in plan.cases:
                drivers = self._due(case, number)
                takes = sum(self.took.get((d, case.name), 0) for d in drivers)
                if not drivers or (
                        number > 0 and time.monotonic() + takes > deadline):
                    continue
                say(f"  {setting}, round {number + 1}: {case.name}")
                shuffle.shuffle(drivers)
                samples += [self._timed(driver, case, plan, {
                    "setting": setting, "round": number, "case": case.name})
                    for driver in drivers]
        return samples

    def _timed(self, driver, case, plan, where):
        begun = time.monotonic()
        sample = self.cell(driver, case, plan.seconds, plan.warm_s)
        self.took[driver, case.name] = time.monotonic() - begun
        return {**where, "driver": driver.entry.name, **sample}
