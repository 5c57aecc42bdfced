"""What is measured: the cases, and the sets of them, as data."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    name: str
    words: str  # of the driver's command `start`
    title: str
    own: bool = False  # only for the drivers of zklock
    # Only the first sample of a new process is measured: it does a fixed amount
    # of work.
    once: bool = False
    breaks: bool = False  # a second sample breaks the connection
    # Sessions that are opened: how long a driver may take to begin.
    sessions: int = 1
    # Those who contend for one lock: before anything is measured, all of them
    # have joined the queue and held the lock.
    crowd: int = 1
    work_s: float = 0  # which each of them does inside
    # A shorter sample would see too little.
    least_s: float = 0

    def warm_ops(self):
        """How many operations its warm-up lasts: twice the way round the queue,
        since in the first some are still on their way."""
        return 2 * self.crowd if self.crowd > 1 else 0

    def warm_most_s(self):
        """But no longer: the slow need half a minute for a thousand."""
        return WARM_MOST_S + self.warm_ops() * (WARM_MOST_OP_S + self.work_s)

    def heavy(self):
        """It takes long with everybody: not every round does it."""
        return self.crowd >= 1000


WARM_MOST_S = 1
WARM_MOST_OP_S = 0.004
POLLED_S = 8  # whoever polls looks once a second
CROWDED_S = 2


def _queue(k, work_ms=0, scheme=None):
    name = f"W2-{k}"
    words = f"workload=W2 workers={k} work_us={work_ms * 1000}"
    title = f"W2, {k} sessions hand one lock on"
    if work_ms:
        name += f"-{work_ms}ms"
        title += f", {work_ms} ms of work inside"
    if scheme:
        name += f"-{scheme}"
        words += f" scheme={scheme}"
        title += f', by the scheme "{scheme}"'
    return Case(name, words, title, own=scheme is not None, sessions=k,
                crowd=k, work_s=work_ms / 1000, least_s=POLLED_S if scheme == "poll" else
                CROWDED_S if k >= 1000 else 0)


def _parallel(n):
    return Case(f"W1p-{n}", f"workload=W1p workers={n}",
                f"W1p, {n} workers of one session, a path each")


def _local(n, local_turns=0):
    if not local_turns:
        return Case(f"W4-{n}", f"workload=W4 workers={n}",
                    f"W4, {n} workers of one session, one path", crowd=n)
    return Case(f"W4-{n}-h{local_turns}",
                f"workload=W4 workers={n} local_turns={local_turns}",
                f"W4, the same with local_turns = {local_turns}", own=True,
                crowd=n)


W1 = Case("W1", "workload=W1", "W1, one client, one path, nobody else")
W3 = Case("W3-50", "workload=W3 workers=50 read_percent=95",
          "W3, 50 sessions, read and write lock, 95 % of them read",
          sessions=50, crowd=50)
W5 = Case("W5", "workload=W5 locks=10000",
          "W5, 10 000 locks held at once", own=True, once=True, breaks=True)
W6 = Case("W6", "workload=W6", "W6, a new process, until it holds a lock",
          own=True, once=True)

MAIN = [W1, _parallel(64), _queue(10), _queue(50), _queue(200), _queue(1000),
        _queue(10, 2), W3, _local(64), _local(64, 64)]
QUICK = [W1, _parallel(64), _queue(10), _queue(50), _queue(10, 2), W3,
         _local(64), _local(64, 64)]
FULL = MAIN + [
    _queue(2), _queue(2, 2), _queue(50, 2), _queue(200, 2),
    _queue(10, 20),
    _parallel(4), _parallel(16), _parallel(256),
    _local(1000), _local(1000, 64), W5, W6,
] + [_queue(k, 0, scheme) for scheme in ("parent", "poll")
     for k in (2, 10, 50, 200)]

# Beside one server on tmpfs: what the ensemble and the disk limit.
ELSEWHERE = [W1, _parallel(64), _queue(10), _queue(50), W3, _local(64)]

ALL = {case.name: case for case in FULL}


@dataclass(frozen=True)
class Plan:
    """A set of cases, and how long they may take."""
    cases: list
    seconds: float  # of a sample
    warm_s: float
    minutes: float  # of all rounds together
    rounds: int  # at most


PLANS = {
    "main": Plan(MAIN, 0.5, 0.15, 8.5, 12),
    "quick": Plan(QUICK, 0.4, 0.15, 1.2, 1),
    "full": Plan(FULL, 0.8, 0.3, 26, 5),
}
ELSEWHERE_PLAN = Plan(ELSEWHERE, 0.8, 0.3, 4, 3)
