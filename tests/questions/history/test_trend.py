"""Lines through evaluations."""

from dataclasses import replace

from calipers.model.scores import Interval, Summary
from calipers.questions.history.rule import lines_of
from tests.questions.history.test_alarm import GOOD, night


def one(day: int, mean: float | None, truth: str = "t", corpus: str | None = "c"):
    interval = None if mean is None else Interval(mean - 0.1, mean + 0.1, 0.95, "score")
    prints = {"ground_truth": truth, "run": f"r{day}"} | ({"corpus": corpus} if corpus else {})
    summaries = {"mrr": Summary("mrr", mean, mean, interval, 4, 0)}
    saved = night(GOOD, day).evaluation
    return replace(saved, fingerprints=prints, summaries=summaries)


def test_points_run_from_old_to_new_with_their_intervals():
    found = [one(0, 0.25), one(1, 0.5), one(2, None), one(3, 0.75)]
    (line,) = lines_of("n", found, ("mrr",), ())
    assert [p.mean for p in line.points] == [0.25, 0.5, 0.75]
    assert [(p.low, p.high) for p in line.points[1:]] == [(0.4, 0.6), (0.65, 0.85)]
