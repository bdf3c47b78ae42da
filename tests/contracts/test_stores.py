"""What every history must do, whatever database it is in."""

import dataclasses
from datetime import timedelta

import pytest
from sqlalchemy import select, text, update

from calipers import evaluate
from calipers.errors import CalipersError, InvalidInput, UnreadableFile, WriteFailed
from calipers.store import open as opening
from calipers.store.git import GitState
from calipers.store.listing import count, evaluations, resolve
from calipers.store.load import load_retrieved, load_scores
from calipers.store.open import open_store
from calipers.store.record import write
from calipers.store.schema import CONTENT, EVALUATION
from tests.store.saved import START, filled, hostile, read_all, record
from tests.systems import records, tagged


def stored(place, data, **settings):
    """A history with one evaluation, its scores, and how it is listed."""
    store = open_store(place, create=True)
    scores, kept = record(data, **settings)
    write(store, kept)
    return store, scores, evaluations(store)[0]


@pytest.mark.parametrize(
    ("data", "settings"),
    [
        (records([1, 2, None]), {}),
        (tagged({"a": [1, None], "b": [3, 4]}), {"metrics": "recall@5,mrr"}),
        (hostile(), {}),
        (records([1]), {"metrics": "recall@1,3,5,first_rank,dcg@5,ndcg@5(gain=exp)"}),
    ],
    ids=["plain", "tagged", "hostile", "many metrics"],
)
def test_scores_come_back_exactly_as_they_were(place, data, settings):
    store, scores, one = stored(place, data, **settings)
    back = load_scores(store, one)
    assert back.to_dict() == scores.to_dict()
    assert back.per_query.equals(scores.per_query, null_equal=True)
    assert back.values.tobytes() == scores.values.tobytes()
    assert back.queries.schema == scores.queries.schema


def test_what_was_retrieved_measures_the_same_again(place):
    store, scores, one = stored(place, tagged({"a": [1, None, 7], "b": [3, 4]}))
    again = evaluate(load_retrieved(store, one), metrics="recall@5,mrr")
    assert again.to_dict() == scores.to_dict()


def test_texts_are_kept_whole_and_once(place):
    chunks = [{"text": f"the GIL is a lock {n}", "document": "faq"} for n in range(3)]
    data = [{"query": f"q{n}", "retrieved": chunks, "ground_truth": ["a lock 1"]} for n in range(4)]
    store, scores, one = stored(place, data)
    back = load_retrieved(store, one)
    assert back.run.frame["text"].to_list() == [c["text"] for c in chunks] * 4
    again = evaluate(back, metrics="recall@5,mrr")
    assert again.to_dict()["per_query"] == scores.to_dict()["per_query"]
    assert again.fingerprints["run"] == scores.fingerprints["run"]


def test_without_results_the_scores_are_there_and_the_results_are_not(place):
    store, scores, one = stored(place, records([1, 2]), results=False)
    assert load_scores(store, one).to_dict() == scores.to_dict()
    with pytest.raises(InvalidInput, match="saved without what was retrieved"):
        load_retrieved(store, one)


def test_what_is_kept_of_an_evaluation(place):
    git = GitState("abc123" * 6, "main", dirty=True)
    data = tagged({"a": [1, None], "b": [3, 4]})
    _, scores, one = stored(
        place, data, tags={"model": "e5", "chunk": "400"}, git=git, corpus="c0ffee"
    )
    assert (one.name, one.saved, one.queries) == ("nightly", START, 4)
    assert (one.commit, one.branch, one.dirty) == (git.commit, "main", True)
    assert one.tags == {"chunk": "400", "model": "e5"}
    assert one.fingerprints["ground_truth"] == scores.fingerprints["ground_truth"]
    assert one.fingerprints["corpus"] == "c0ffee"
    assert dict(one.summaries) == dict(scores.summaries)


def test_evaluations_are_listed_newest_first_and_filtered(place):
    store = filled(place, [[1], [2], [3]])
    git = GitState("c" * 40, "feature", dirty=False)
    write(store, record(records([1]), "other", day=5, tags={"model": "e5"}, git=git)[1])
    assert [one.name for one in evaluations(store)] == ["other", *["nightly"] * 3]
    assert [one.saved.day for one in evaluations(store, name="nightly", last=2)] == [3, 2]
    since = evaluations(store, since=START + timedelta(days=1), until=START + timedelta(days=2))
    assert [one.saved.day for one in since] == [2]


def test_a_changed_ground_truth_or_corpus_is_marked_once(place):
    store = open_store(place, create=True)
    one, other = records([1, 2]), records([1, 2])
    other[0]["ground_truth"] = {"elsewhere": 1}
    for day, (data, corpus) in enumerate([(one, "a"), (one, "a"), (other, "a"), (other, "b")]):
        write(store, record(data, day=day, corpus=corpus)[1])
    changed = [one.changed for one in evaluations(store)]
    assert changed == [("corpus",), ("ground truth",), (), ()]


def test_references_name_one_evaluation(place):
    store = filled(place, [[1], [2], [3]])
    newest, middle, oldest = evaluations(store)
    assert resolve(store, "@nightly").id == newest.id
    assert resolve(store, "@nightly~2").id == oldest.id
    assert resolve(store, f"@{middle.short}").id == middle.id
    assert resolve(store, f"@{middle.id}~1").id == oldest.id


def test_a_failed_save_leaves_nothing(place):
    store = filled(place, [[1]])
    _, kept = record(records([2]))
    broken = dataclasses.replace(kept, summaries=[{**kept.summaries[0], "n": None}])
    with pytest.raises(InvalidInput, match="refused it"):
        write(store, broken)
    assert count(store) == 1
    read_all(store)


def test_a_damaged_content_is_said_so_everywhere(place):
    store = filled(place, [[1, 2]])
    one = evaluations(store)[0]
    with store.writing() as connection:
        digest = connection.execute(
            text("SELECT digest FROM calipers_part WHERE kind = 'scores'")
        ).scalar_one()
        connection.execute(
            update(CONTENT).where(CONTENT.c.digest == digest).values(bytes=b"broken")
        )
    with pytest.raises(UnreadableFile, match="is damaged"):
        load_scores(store, one)


def test_a_newer_history_is_refused(place):
    store = filled(place, [[1]])
    with store.writing() as connection:
        connection.execute(text("UPDATE calipers_version SET version_num = '9999'"))
    with pytest.raises(InvalidInput, match="newer version of Calipers") as caught:
        open_store(place)
    assert "Install the newer one." in str(caught.value)


def test_a_locked_history_is_waited_for_and_then_said_so(place, monkeypatch):
    store = filled(place, [[1]])
    monkeypatch.setattr(opening, "PATIENCE_SECONDS", 0.2)
    _, kept = record(records([2]))
    with store.writing() as connection:
        connection.execute(EVALUATION.update().values(name="held", checksum=""))
        if connection.dialect.name == "postgresql":
            connection.execute(text("LOCK TABLE calipers_evaluation IN EXCLUSIVE MODE"))
        with pytest.raises(WriteFailed, match=r"holds it locked; try again"):
            write(open_store(place), kept)
    with store.reading() as connection:
        assert connection.execute(select(EVALUATION.c.name)).scalars().all() == ["held"]


def test_an_empty_place_is_no_history_yet(place):
    with pytest.raises(CalipersError, match=r"no history|is empty"):
        open_store(place)
