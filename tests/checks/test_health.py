from pathlib import Path

import pytest

from calipers import audit
from calipers.checks import catalogue
from calipers.errors import InvalidInput

LOCK = "The GIL is a lock that lets only one thread run Python bytecode at any one time."
LIST = "A list comprehension builds a new list from any iterable in one single expression."
CHUNKS = {"lock": LOCK, "list": LIST}


def evals(*targets, query="q"):
    return [{"query": query, "ground_truth": list(targets)}]


def test_every_kind_is_explained_in_the_docs():
    page = Path("docs/audit.md").read_text(encoding="utf-8")
    missing = [kind.name for kind in catalogue.KINDS if f"`{kind.name}`" not in page]
    assert missing == []
    assert len({kind.name for kind in catalogue.KINDS}) == len(catalogue.KINDS)


def test_a_good_ground_truth_has_no_errors():
    health = audit(evals({"quote": "lets only one thread run"}), corpus=CHUNKS)
    assert [finding.name for finding in health.findings if finding.severity == "error"] == []
    assert "evidence_in_no_chunk" in health.passed


def test_ids_that_the_corpus_does_not_have():
    health = audit(evals("lock", "gone", {"id": "harmless", "grade": 0}), corpus=CHUNKS)
    found = health["id_not_in_corpus"]
    assert (found.count, found.of, found.examples[0].target) == (1, 2, "gone")
    assert "'lock'" in str(found.detail)


def test_an_id_that_two_chunks_have():
    rows = [{"id": "lock", "text": LOCK}, {"id": "lock", "text": LIST}]
    assert audit(evals("lock"), corpus=rows)["repeated_chunk_id"].count == 1


def test_evidence_in_no_chunk_and_split_evidence():
    cut = LOCK.index("one thread") + 6
    rows = [
        {"id": "1", "document": "d", "text": LOCK[:cut]},
        {"id": "2", "document": "d", "text": LOCK[cut:]},
    ]
    health = audit(
        evals({"quote": "lets only one thread run Python"}, {"quote": "never written anywhere"}),
        corpus=rows,
    )
    assert health["evidence_split"].examples[0].target == "lets only one thread run Python"
    absent = health["evidence_in_no_chunk"]
    assert (absent.severity, absent.count, absent.of) == ("error", 1, 2)
    assert absent.detail == "1 query cannot be won in full."


def test_a_quote_in_many_places_and_two_chunks_that_may_overlap():
    rows = [{"id": f"c{n}", "document": f"d{n}", "text": LOCK} for n in range(5)]
    found = audit(evals({"quote": "only one thread"}), corpus=rows)["ambiguous_quote"]
    assert found.count == 1
    assert "5 chunks of 5 documents" in str(found.examples[0].detail)
    assert "ambiguous_quote" not in audit(evals({"quote": LIST}), corpus=[LIST, LIST])
    assert "ambiguous_quote" in audit(evals({"quote": LIST}), corpus=[LIST, LIST, LIST])


@pytest.mark.parametrize("target", ["lock", {"quote": "The GIL is a lock"}])
def test_an_unlabelled_copy_of_a_labelled_chunk(target):
    copy = LOCK.replace("The GIL", "A GIL")
    health = audit(evals(target), corpus={**CHUNKS, "copy": copy})
    found = health["unlabelled_near_copies"]
    assert (found.count, found.examples[0].target) == (1, "lock")
    assert "'copy'" in str(found.examples[0].detail)


@pytest.mark.parametrize(
    "targets",
    [["lock", "copy"], ["lock", {"id": "copy", "grade": 0}], [{"quote": "lets only one thread"}]],
)
def test_a_labelled_copy_is_fine(targets):
    copy = LOCK.replace("The GIL", "A GIL")
    assert "unlabelled_near_copies" not in audit(evals(*targets), corpus={**CHUNKS, "copy": copy})


def test_spans_against_chunks_with_places():
    rows = [
        {"id": "1", "document": "d", "text": LOCK, "start": 0},
        {"id": "2", "document": "d", "text": LIST, "start": len(LOCK)},
    ]
    end = len(LOCK) + len(LIST)

    def names(document, start, stop, quote=None):
        target = {"document": document, "start": start, "end": stop}
        health = audit(evals(target | ({"quote": quote} if quote else {})), corpus=rows)
        return {finding.name for finding in health.findings} & {
            kind.name for kind in catalogue.AGAINST_CORPUS
        }

    assert names("d", 4, 20) == set()
    assert names("d", 4, 20, LOCK[4:20]) == set()
    assert names("d", 4, 20, "another passage") == {"quote_not_at_span"}
    assert names("d", len(LOCK) - 20, len(LOCK) + 20) == {"evidence_split"}
    assert names("d", end - 5, end + 1) == {"evidence_in_no_chunk"}
    assert names("elsewhere", 0, 5) == {"evidence_in_no_chunk"}


def test_spans_that_cannot_be_checked_are_said():
    rows = [{"id": "1", "document": "d", "text": LOCK}]
    health = audit(evals({"document": "d", "start": 0, "end": 5}), corpus=rows)
    assert any("1 span could not be checked" in note for note in health.notes)
    with_quote = {"document": "d", "start": 0, "end": 5, "quote": "never written anywhere"}
    assert "evidence_in_no_chunk" in audit(evals(with_quote), corpus=rows)


@pytest.mark.parametrize("corpus", [None, CHUNKS])
@pytest.mark.parametrize(
    "target",
    [{"document": "d", "start": 5, "end": 3}, {"document": "d"}, {"document": "d", "start": 0}],
)
def test_broken_spans_are_refused(target, corpus):
    with pytest.raises(InvalidInput, match="span"):
        audit(evals({"document": "d", **target}), corpus=corpus)


def test_plain_strings_that_read_like_texts_are_taken_as_quotes():
    health = audit(evals("lets only one thread run"), corpus=CHUNKS)
    assert "id_not_in_corpus" not in health
    assert any("taken as quotes" in note for note in health.notes)


FILE = {"id": "1", "document": "gil", "text": "The GIL is a lock. It is held.", "start": 0}


def test_a_document_that_is_not_in_the_corpus_is_no_all_clear():
    """The quote stands in the corpus, under another name of its document."""
    target = {"quote": "is a lock", "document": "docs/gil.md", "start": 8, "end": 17}
    for start in (0, None):
        corpus = [{**FILE, "start": start}]
        found = audit(evals(target), corpus=corpus)["evidence_in_no_chunk"]
        assert found.examples[0].detail == "the corpus does not have this document"
        known = {**target, "document": "gil"}
        assert "evidence_in_no_chunk" not in audit(evals(known), corpus=corpus)


def test_a_quote_that_stands_twice_in_one_file_is_ambiguous():
    text = "It is held. What is held is not free."
    for corpus in ([{**FILE, "text": text}], [text]):
        found = audit(evals({"quote": "is held"}), corpus=corpus)["ambiguous_quote"]
        assert "up to 2 times in one" in found.examples[0].detail
        assert "ambiguous_quote" not in audit(evals({"quote": "is not free"}), corpus=corpus)
