"""What is kept of each query's ground truth, of the corpus, and of deep rankings."""

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calipers import evaluate, save
from calipers.errors import InvalidInput
from calipers.io.corpus import open_corpus
from calipers.io.load import load
from calipers.store import blob
from calipers.store.save import DEPTH, _judgements, corpus_facts, record_of
from tests.store.saved import measure
from tests.systems import records

grades = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0.5, 1, 2]), max_size=4)


def digests(truth: dict[str, dict[str, float]]) -> dict[str, str]:
    return dict(_judgements(load(truth, "ground_truth").ground_truth).iter_rows())


@given(st.lists(grades, min_size=1, max_size=6), st.lists(grades, min_size=1, max_size=6))
@example([{"a": 1, "b": 2}], [{"b": 2, "a": 1}])
def test_a_digest_is_the_same_exactly_where_the_judgements_are(first, second):
    ours, theirs = ({f"q{i}": one for i, one in enumerate(several)} for several in (first, second))
    if not any(ours.values()) or not any(theirs.values()):
        return
    a, b = digests(ours), digests(theirs)
    for query in ours.keys() & theirs.keys():
        assert (a[query] == b[query]) == (ours[query] == theirs[query])


@given(st.permutations(range(6)), st.integers(0, 5))
def test_a_corpus_is_known_by_its_chunks_in_any_order(order, changed):
    chunks = {f"c{n}": f"text {n}" for n in range(6)}
    shuffled = {f"c{n}": chunks[f"c{n}"] for n in order}
    other = {**chunks, f"c{changed}": "another text"}
    prints = [corpus_facts(open_corpus(one).batches())[0] for one in (chunks, shuffled, other)]
    assert prints[0] == prints[1] != prints[2]


@pytest.mark.parametrize(("metrics", "deepest"), [("mrr", DEPTH), ("recall@200", 200)])
def test_results_far_down_are_not_kept(metrics, deepest):
    run = {"q": [f"d{n}" for n in range(300)]}
    pair, scores = measure(ground_truth={"q": ["d5"]}, run=run, metrics=metrics)
    kept = record_of(scores, "n", ground_truth=pair.ground_truth, run=pair.run)
    digest, content = kept.contents["results"]
    assert blob.unpack(content, digest, "x")["rank"].max() == deepest


def test_a_table_in_pieces_is_packed_as_the_whole_one() -> None:
    rows = pl.DataFrame({"query": [f"q{n // 7}" for n in range(50)], "rank": range(50)})
    assert blob.pack(pl.concat(rows.iter_slices(7), rechunk=True)) == blob.pack(rows)


def test_scores_without_fingerprints_are_refused_with_a_sentence(tmp_path):
    scores = evaluate(records([1, 2]), metrics="mrr", fingerprints=False)
    with pytest.raises(InvalidInput, match="measure without fingerprints=False"):
        save(scores, "nightly", store=tmp_path / "history.db")
