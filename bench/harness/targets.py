"""The targets, as data: ratios of medians of one run."""
from dataclasses import dataclass

PEERS = ["curator", "go", "node", "kazoo"]
BEST_PEER = "the best peer"


@dataclass(frozen=True)
class Target:
    case: str
    driver: str
    metric: str
    least: bool  # is it to be at least the goal? else at most
    goal: float
    against: str = None  # a driver, or BEST_PEER; None: the figure itself
    # The peers' case, where it is another one.
    their_case: str = None
    below: bool = False  # the goal itself is not enough


def _speed(case, driver, goal, against, their_case=None):
    return Target(case, driver, "ops_s", True, goal, against, their_case)


def _at_most(case, metric, goal, against=None, below=False):
    return Target(case, "zklock", metric, False, goal, against, below=below)


def _handoffs(k):
    case = f"W2-{k}"
    return [_at_most(case, "requests", 5), _at_most(case, "segments_out", 3),
            _at_most(case, "bytes", 1, BEST_PEER, below=True)]


TARGETS = [
    _speed("W1", "zklock", 1.15, "st"),
    _speed("W1", "zklock", 1.8, "curator"),
    _speed("W1p-64", "zklock", 1.0, BEST_PEER),
    _speed("W1p-64", "zklock-luajit", 1.2, BEST_PEER),
    _speed("W2-10", "zklock", 1.4, BEST_PEER),
    _speed("W2-50", "zklock", 1.5, BEST_PEER),
    _speed("W2-200", "zklock", 1.5, BEST_PEER),
    _speed("W2-1000", "zklock", 2, BEST_PEER),
    *[target for k in (2, 10, 50, 200, 1000) for target in _handoffs(k)],
    _at_most("W2-10-2ms", "p50_us", 0.7, BEST_PEER),
    _at_most("W2-10-2ms", "p99_us", 0.35, BEST_PEER),
    _speed("W3-50", "zklock", 3, "curator"),
    _speed("W4-64", "zklock", 2, BEST_PEER),
    _speed("W4-64-h64", "zklock", 30, BEST_PEER, "W4-64"),
    _speed("W4-64-h64", "zklock-luajit", 100, BEST_PEER, "W4-64"),
    _at_most("W5", "memory_per_lock", 2500),
]

WORDS = {
    "ops_s": "speed", "requests": "requests an operation",
    "segments_out": "segments an operation", "bytes": "bytes an operation",
    "p50_us": "p50", "p99_us": "p99",
    "memory_per_lock": "bytes of memory a lock",
}


@dataclass(frozen=True)
class Verdict:
    target: Target
    figure: object  # a Figure; None: not measured
    rival: str  # who the best peer was
    word: str  # "met", "NOT MET", "not measured"


def judge(results, setting, target):
    """What has become of a target."""
    ours = setting, target.case, target.driver
    rival = target.against
    if target.against is None:
        figure = results.figure(*ours, target.metric)
    else:
        case = target.their_case or target.case
        if rival == BEST_PEER:
            rival = results.best(setting, case, PEERS, target.metric,
                                 target.least)
        figure = rival and results.ratio(target.metric, ours,
                                         (setting, case, rival))
    if not figure:
        return Verdict(target, None, rival, "not measured")

    value, goal = figure.median, target.goal
    met = value >= goal if target.least else \
        value < goal if target.below else value <= goal
    word = "met" if met else "NOT MET"
    return Verdict(target, figure, rival, word)


def judge_all(results, setting):
    """Of the cases that were measured; the others are not asked about."""
    cases = results.cases(setting)
    return [judge(results, setting, target) for target in TARGETS
            if target.case in cases]
