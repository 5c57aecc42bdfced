"""What the benchmark makes of samples: figures, ratios, verdicts."""
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                ".."))

from harness import points, report  # noqa: E402
from harness.cases import ALL  # noqa: E402
from harness.measure import Stage  # noqa: E402
from harness.results import Results, percentile  # noqa: E402
from harness.targets import BEST_PEER, Target, judge, judge_all  # noqa: E402


def sample(number, case, driver, ops_s, **more):
    return {"setting": "one", "round": number, "case": case, "driver": driver,
            "ops": ops_s * 2, "seconds": 2, "cpu_us": 100 * ops_s,
            "hist": [(100, 98), (1000, 2)], "requests": 3, "segments_out": 2,
            "segments_in": 2, "bytes_out": 100, "bytes_in": 200,
            "server_cpu_us": 50, **more}


def failed(number, case, driver, why):
    return {"setting": "one", "round": number, "case": case, "driver": driver,
            "error": why}


def three_rounds(case, driver, speeds, **more):
    return [sample(n, case, driver, s, **more) for n, s in enumerate(speeds)]


class Slow:
    """A driver that says how many operations there were since it was asked."""

    def __init__(self, *counts):
        self.counts = list(counts)

    def sample(self, _):
        return {"ops": self.counts.pop(0), "seconds": 0.001}


class WarmUp(unittest.TestCase):
    def test_lasts_until_everybody_has_held_the_lock_twice(self):
        driver = Slow(0, 7, 12, 1, 99)
        self.assertEqual(20, Stage._warm(driver, ALL["W2-10"]))
        self.assertEqual([99], driver.counts)

    def test_is_bounded(self):
        case = ALL["W2-2-2ms"]
        self.assertTrue(1 < case.warm_most_s() < 2)
        self.assertTrue(8 < ALL["W2-1000"].warm_most_s() < 10)
        self.assertEqual(1, Stage._warm(Slow(1, *[0] * 99), case))


class Figures(unittest.TestCase):
    def test_a_percentile_is_in_its_bucket(self):
        hist = [(100, 50), (200, 49), (1000, 1)]
        self.assertTrue(100 <= percentile(hist, 0.5) <= 105)
        self.assertTrue(200 <= percentile(hist, 0.99) <= 210)
        self.assertTrue(1000 <= percentile(hist, 0.995) <= 1050)
        self.assertIsNone(percentile([], 0.5))

    def test_a_figure_is_the_median_with_its_spread(self):
        results = Results(three_rounds("W1", "raw", [100, 300, 150]))
        figure = results.figure("one", "W1", "raw", "ops_s")
        self.assertEqual((figure.median, figure.least, figure.greatest,
                          figure.rounds), (150, 100, 300, 3))
        self.assertEqual(
            results.figure("one", "W1", "raw", "bytes").median, 300)
        self.assertEqual(
            results.figure("one", "W1", "raw", "client_cpu_us").median, 50)

    def test_the_spread_of_a_ratio_is_of_the_rounds(self):
        # Bad minutes strike both: the ratio hardly sees them.
        results = Results(three_rounds("W1", "zklock", [200, 20, 400])
                          + three_rounds("W1", "raw", [100, 10, 100]))
        ratio = results.ratio("ops_s", ("one", "W1", "zklock"),
                              ("one", "W1", "raw"))
        self.assertEqual((ratio.median, ratio.least, ratio.greatest),
                         (2, 2, 4))

    def test_all_is_said_in_short_beside_the_best_peer(self):
        results = Results(three_rounds("W1", "zklock", [200, 200, 200])
                          + three_rounds("W1", "go", [100, 50, 100])
                          + three_rounds("W1", "curator", [80, 80, 80]))
        text = report.overview(results, "one")
        self.assertIn("operations a second", text)
        self.assertRegex(
            text, r"\| W1 \| +200 \| +80 \| +100 \| +2\.00 \(2–4\) \|")
        # 50 µs of the server's, and the client's.
        self.assertRegex(text, r"\| W1 \| +100 \| +100 \| +100 \|")
        self.assertNotIn("kazoo", text)  # nobody has run it


class Points(unittest.TestCase):
    def test_are_medians_and_spreads_of_what_was_measured(self):
        results = Results(three_rounds("W1", "zklock", [200, 300, 100])
                          + three_rounds("W1p-64", "./mine", [123456.7] * 3)
                          + [failed(0, "W1", "go", "missing: no go")])
        self.assertEqual(list(points.collect(results)), [
            ("workers", "throughput", "zklock", 1, 200, 100, 300),
            ("workers", "throughput", "./mine", 64, 123456.7, 123456.7,
             123456.7)])


class Verdicts(unittest.TestCase):
    samples = (three_rounds("W1", "zklock", [200, 200, 200])
               + three_rounds("W1", "curator", [100, 100, 100], bytes_in=50)
               + three_rounds("W1", "kazoo", [10, 10, 10]))

    def word(self, *target, **more):
        return judge(Results(self.samples), "one",
                     Target("W1", "zklock", *target, **more)).word

    def test_ratios_are_to_the_best_peer(self):
        verdict = judge(Results(self.samples), "one", Target(
            "W1", "zklock", "ops_s", True, 1.8, BEST_PEER))
        self.assertEqual((verdict.rival, verdict.word), ("curator", "met"))
        self.assertEqual(self.word("ops_s", True, 2.1, BEST_PEER),
                         "NOT MET")

    def test_the_best_of_a_cost_is_the_least(self):
        verdict = judge(Results(self.samples), "one", Target(
            "W1", "zklock", "bytes", False, 1, BEST_PEER))
        self.assertEqual((verdict.rival, verdict.figure.median,
                          verdict.word), ("curator", 2, "NOT MET"))

    def test_a_limit_itself_may_be_enough_or_not(self):
        self.assertEqual(self.word("requests", False, 3), "met")
        self.assertEqual(self.word("requests", False, 3, below=True),
                         "NOT MET")

    def test_what_was_not_measured_is_not_met(self):
        self.assertEqual(self.word("ops_s", True, 1, "st"),
                         "not measured")
        for verdict in judge_all(Results([]), "one"):
            self.fail(f"{verdict.target.case} was not measured")
        only_ours = Results(three_rounds("W1", "zklock", [200, 200, 200]))
        self.assertEqual({v.word for v in judge_all(only_ours, "one")},
                         {"not measured"})


if __name__ == "__main__":
    unittest.main()
