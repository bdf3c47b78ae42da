from calipers.live.document import of_run
from calipers.live.settings import retrieve
from calipers.model.document import Table, in_order


def test_everything_remarkable_is_said() -> None:
    answers = {
        "none": [],
        "few": ["a"],
        "many": ["a", "b", "c", "d"],
        "unsorted": [("a", 1.0), ("b", 3.0), ("c", 2.0)],
        "bad": None,
    }
    found = retrieve(lambda query, k: answers[query], list(answers), k=3, workers=1)
    document = of_run(found, "Measure it: `calipers eval`")
    assert document.sentence.startswith("4 of 5 questions answered; 5 asked in ")
    failed, *others = (one.text for one in in_order(document.notes))
    assert failed.startswith(
        "1 question failed (1 bad answer); ask again with --retry-errors. "
        "The first error: bad answer: the retriever returned None"
    )
    assert others == [
        "1 answer without any result.",
        "1 answer with fewer than 3 results.",
        "1 answer with more than 3 results: cut off there.",
        "1 answer with scores that neither fall nor rise: the order of the list counts.",
        "Measure it: `calipers eval`",
    ]


def test_a_quiet_run_is_a_sentence_and_its_latency() -> None:
    found = retrieve(lambda query, k: ["a"] * k, [f"q{i}" for i in range(20)], k=2, workers=2)
    document = of_run(found)
    assert not document.notes
    (latency,) = document.blocks
    assert isinstance(latency, Table)
    assert latency.rows[0][0] == "18 calls"
    assert latency.more.startswith("The first 2 calls, on average, took ")
