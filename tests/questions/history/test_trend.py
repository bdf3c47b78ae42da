"""Lines through evaluations, and the marks between them."""

from dataclasses import replace

from calipers.model.scores import Interval, Summary
from calipers.questions.history.rule import changes, lines_of
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


def test_marks_stand_where_ground_truth_or_corpus_changed():
    prints = [("t", "c"), ("u", "c"), ("u", None), ("u", "d"), ("v", "e"), ("v", "e")]
    found = changes([one(day, 0.1, *both) for day, both in enumerate(prints)])
    assert [(mark.saved.day, mark.what) for mark in found] == [
        (2, ("ground truth",)),
        (5, ("ground truth", "corpus")),
    ]
