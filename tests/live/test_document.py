from calipers import retrieve
from calipers.live.document import of_run
from calipers.model.document import in_order


def test_everything_remarkable_is_said() -> None:
    answers = {
        "none": [],
        "few": ["a"],
        "unsorted": [("a", 1.0), ("b", 3.0), ("c", 2.0)],
        "bad": None,
    }
    found = retrieve(lambda query, k: answers[query], list(answers), k=3, workers=1)
    document = of_run(found, "Measure it: `calipers eval`")
    assert document.sentence.startswith("3 of 4 questions answered; 4 asked in ")
    failed, *others = (one.text for one in in_order(document.notes))
    assert failed.startswith(
        "1 question failed (1 bad answer); ask again with --retry-errors. "
        "The first error: bad answer: the retriever returned None"
    )
    assert others == [
        "1 answer without any result.",
        "1 answer with fewer than 3 results.",
        "1 answer whose scores neither fall nor rise: the list's order counts.",
        "Measure it: `calipers eval`",
    ]
