"""Measures: in each round every driver does each case once, side by side with
the others against the same server. All that was seen is kept."""
import random
import sys
import time

from . import counters, process
from .drivers import Driver, Failure, Refusal
from .forwarder import Forwarder

STOP_S = 120
# Between two looks at a warm-up.
LOOK_S = 0.05, 0.25
# A cell that has taken longer is dear, as a case may be heavy.
DEAR_S = 6
DEAR_EVERY = 3  # rounds
SAMPLE_S = 30
ONCE_S = 180
# Opening a session takes milliseconds; some libraries take turns at it.
START_S = 30
START_PER_SESSION_S = 0.15
# Of the server and of those that compile while they run.
WARM_UP_CASE = "workload=W2 workers=10 work_us=0"
# The locks of W5: when what follows the grants is over, and how long they are
# looked at then.
CALM_S = 10
HELD_S = 15
RECONNECT_S = 30


def say(text, end="\n"):
    print(text, end=end, file=sys.stderr, flush=True)


class Stage:
    """The server of a run and the drivers on it."""

    def __init__(self, entries, server, log_directory, options):
        self.server = server
        self.drivers = [
            Driver(entry, server.hosts,
                   f"{log_directory}/driver-{number}.log", options.patience)
            for number, entry in enumerate(entries)]
        self.paths = 0
        self.took = {}  # (driver, case's name) → how many seconds, the last time

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for driver in self.drivers:
            if kind is None:
                driver.quit()
            else:
                driver.kill()

    # ---- One case by one driver ----

    @staticmethod
    def _renew(driver):
        """Another process of it, which is no failure of the last one."""
        driver.quit()
        driver.starts -= 1
        driver.ensure()

    def _begin(self, driver, case, words, warm_ms):
        driver.ensure()
        if case and case.fresh and driver.can(case):
            self._renew(driver)
        if case and not driver.can(case):
            raise Refusal("unsupported")
        self.paths += 1
        sessions = case.sessions if case else 10
        driver.ask(f"start {words} path=/bench/p{self.paths} warm_ms={warm_ms}",
                   "running", START_S + START_PER_SESSION_S * sessions)

    @staticmethod
    def _warm(driver, case):
        """Until so many operations were done, or it takes too long: how many they
        are then. (They are the driver's, and it says them in samples.)"""
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
        server = self.server
        bounds = {}
        if case.once:
            sample, counted = counters.across(
                server, lambda: driver.sample(ONCE_S))
        else:
            _, before = counters.around(
                server, lambda: driver.sample(SAMPLE_S))
            seconds = max(seconds, case.least_s)
            time.sleep(seconds)
            sample, after = counters.around(
                server, lambda: driver.sample(SAMPLE_S + seconds))
            counted, bounds = counters.meanwhile(before, after)
        if sample["ops"] == 0:
            raise Refusal("nothing was done")
        if case.fleeting:
            counted = {"requests": counted["requests"],
                       "server_cpu_us": counted["server_cpu_us"]}
            del sample["cpu_us"]
        for name, value in counted.items():
            sample[name] = value / sample["ops"]
        sample["bounds"] = {name: [bound / sample["ops"] for bound in both]
                            for name, both in bounds.items()}
        if case.name == "W5":
            self._hold(driver, sample)
        return sample

    def _hold(self, driver, sample):
        """While the locks are held: requests per second."""
        time.sleep(CALM_S)
        _, counted = counters.across(
            self.server, lambda: time.sleep(HELD_S))
        driver.sample(SAMPLE_S)
        sample["held_requests_per_s"] = counted["requests"] / HELD_S

    def _break(self, driver, case):
        """The same once more, and then its connection is cut: after how many
        microseconds is it back, with all that it holds?  None: it does not say."""
        hosts = driver.hosts
        with Forwarder(hosts) as way:
            driver.hosts = way.hosts
            try:
                self._begin(driver, case, case.words, 0)
                driver.sample(ONCE_S)
                time.sleep(CALM_S)
                way.cut()
                deadline = time.monotonic() + RECONNECT_S
                while time.monotonic() < deadline:
                    time.sleep(1)
                    sample = driver.sample(SAMPLE_S)
                    if "reconnect_us" in sample:
                        return sample["reconnect_us"]
                return None
            finally:
                driver.hosts = hosts
                self._renew(driver)

    def cell(self, driver, case, seconds, warm_ms):
        """What the driver does in this case: a sample, or {"error": …}."""
        try:
            self._begin(driver, case, case.words, warm_ms)
            try:
                warm_ops = self._warm(driver, case)
                sample = self._watch(driver, case, seconds)
                if case.warm_ops():
                    sample["warm_ops"] = warm_ops
            finally:
                if driver.process:
                    driver.ask("stop", "stopped", STOP_S)
            if case.name == "W5":
                sample["reconnect_us"] = self._break(driver, case)
            return sample
        except Refusal as refusal:
            return {"error": str(refusal)}
        except Failure as failure:
            return {"error": str(failure), "failed": True}

    def warm_up(self, seconds):
        """Nothing of this is counted."""
        for driver in self.drivers:
            process.check()
            try:
                self._begin(driver, None, WARM_UP_CASE, int(seconds * 1000))
                driver.ask("stop", "stopped", STOP_S)
            except Refusal:
                pass
            except Failure as failure:
                say(f"  {driver.entry.name}: {failure}")

    # ---- Rounds ----

    def takes_part(self, driver, case):
        entry = driver.entry
        if entry.cases is not None and case.name not in entry.cases:
            return False
        return not case.own or entry.group == "own"

    def _due(self, case, number):
        """Who does the case in this round. What is dear is not in each."""
        seldom = number % DEAR_EVERY > 0
        if seldom and case.heavy():
            return []
        return [d for d in self.drivers if self.takes_part(d, case) and not (
            seldom and self.took.get((d, case.name), 0) > DEAR_S)]

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
        process.check()
        begun = time.monotonic()
        sample = self.cell(driver, case, plan.seconds, plan.warm_ms)
        self.took[driver, case.name] = time.monotonic() - begun
        if sample.get("failed"):
            say(f"  {driver.entry.name}: {sample['error']}")
        return {**where, "driver": driver.entry.name, **sample}
