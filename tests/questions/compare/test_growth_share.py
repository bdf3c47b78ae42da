"""How much of a fall is growth alone, where both evaluations know the size of their corpus."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calipers
from calipers.model.fact import Sentence
from tests.command import calipers_command


def evaluations(n: int = 120) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A run over a quarter of a corpus, and one over the whole of it."""
    random = np.random.default_rng(3)
    small: list[dict[str, Any]] = []
    large: list[dict[str, Any]] = []
    for i in range(n):
        rate = random.gamma(0.5, 4.0)
        few = random.poisson(rate)
        many = few + random.poisson(3 * rate)
        for records, above in ((small, few), (large, many)):
            shown = [f"x{j}" for j in range(60)]
            shown.insert(min(int(above), 60), "a")
            records.append({"query": f"q{i}", "retrieved": shown, "ground_truth": ["a"]})
    return small, large


def test_growth_alone_explains_the_fall() -> None:
    small, large = evaluations()
    before = calipers.evaluate(small, metrics="recall@10", corpus_size=1_000)
    after = calipers.read(large, corpus_size=4_000)
    found = calipers.compare({"before": before, "after": after}, metrics="recall@10")
    [line] = [note for note in found.recorded.notes if "The corpus grew" in note]
    assert line in str(found).replace("\n", " ")
    assert isinstance(line, Sentence)
    fact = next(one for one in line.facts if one.metric == "recall@10")
    assert fact.difference == pytest.approx(found.difference("after", "recall@10").difference)
    assert fact.difference < -0.1
    # Nothing but the corpus changed.
    assert abs(fact.value - fact.difference) < 0.05


def line_of(before: Any, after: Any, metrics: str = "recall@10") -> str:
    found = calipers.compare({"before": before, "after": after}, metrics=metrics)
    return next((note for note in found.recorded.notes if "The corpus" in note), "")


def test_each_way_round_and_where_size_is_not_the_reason() -> None:
    few, many = evaluations()
    small = calipers.read(few, corpus_size=1_000)
    large = calipers.read(many, corpus_size=4_000)
    grew = line_of(small, large)
    assert grew.startswith(
        "The corpus grew from 1,000 to 4,000: that alone explains all of the −0."
    )
    shrank = line_of(large, small)
    turned = grew.replace("grew from 1,000 to 4,000", "shrank from 4,000 to 1,000")
    assert shrank == turned.replace("−", "+")
    assert line_of(small, large, "ndcg@10,recall@10") == grew
    assert line_of(small, large, "ndcg@10") == ""
    # The same lists out of more documents are no fall that growth could explain.
    same = line_of(large, calipers.read(many, corpus_size=16_000))
    assert "that alone would change recall@10 by −0." in same
    assert same.endswith("; it changed by 0.000.")


def test_short_lists_are_projected_from_the_smaller_corpus() -> None:
    few, many = (
        [{**one, "retrieved": one["retrieved"][:10]} for one in each] for each in evaluations()
    )
    small = calipers.read(few, corpus_size=1_000)
    large = calipers.read(many, corpus_size=4_000)
    assert "to 4,000: that alone explains about −0." in line_of(small, large)
    short = line_of(
        calipers.read(few[:30], corpus_size=100), calipers.read(many[:30], corpus_size=400)
    )
    assert "; to say how much of the −0." in short
    assert short.endswith("in recall@10 that explains needs about 100 queries.")


def test_nothing_is_said_of_one_size_or_without_the_run() -> None:
    small, large = evaluations(40)
    before = calipers.evaluate(small, metrics="recall@10", corpus_size=1_000)
    for after in (
        calipers.evaluate(large, metrics="recall@10", corpus_size=4_000),
        calipers.evaluate(large, metrics="recall@10", corpus_size=1_000),
        calipers.read(large),
    ):
        found = calipers.compare({"before": before, "after": after}, metrics="recall@10")
        assert "The corpus grew" not in str(found)


def test_true_negatives_need_one_corpus() -> None:
    small, large = evaluations(20)
    before = calipers.evaluate(small, metrics="tn@5", corpus_size=1_000)
    after = calipers.evaluate(large, metrics="tn@5", corpus_size=4_000)
    with pytest.raises(calipers.CalipersError, match="corpus_size is 1000"):
        calipers.compare({"before": before, "after": after})


def test_the_history_knows_the_size_of_the_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, records, size in zip(("before", "after"), evaluations(), (100, 400), strict=True):
        Path(f"{name}.json").write_text(json.dumps(records))
        chunks = [{"id": f"c{i}", "text": f"text {i}"} for i in range(size)]
        Path("corpus.json").write_text(json.dumps(chunks))
        saved = calipers_command(
            "eval", f"{name}.json", "-m", "recall@10", "--corpus", "corpus.json", "--save", name
        )
        assert saved.code == 0, saved.err
    printed = calipers_command("compare", "@before", "@after", "-m", "recall@10")
    assert "The corpus grew from 100 to 400: that alone explains" in printed.out.replace("\n", " ")
