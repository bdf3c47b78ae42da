import json
from pathlib import Path

import pytest

import calipers
from calipers.errors import InvalidInput, RetrieverFailed, SealedQueries
from tests.command import calipers_command

TRUTH = [
    {"query": "Who gave it?", "id": "q1", "ground_truth": ["c2", "c12", "c99"]},
    {
        "query": "When?",
        "id": "q2",
        "ground_truth": [{"id": "c1", "group": "a"}, {"id": "c77", "group": "a"}],
    },
    {"query": "Where?", "id": "q3", "ground_truth": []},
]


def search(query: str, k: int) -> list[dict[str, object]]:
    return [{"id": f"c{i}", "score": 1 / (i + 1), "text": f"chunk {i}"} for i in range(min(k, 15))]


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    path = tmp_path / "truth.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in TRUTH))
    return path


@pytest.mark.parametrize("asked", ["Who gave it?", "q1"])
def test_every_target_has_its_rank_or_its_reason(asked: str, truth: Path) -> None:
    found = calipers.explain(asked, retriever=search, ground_truth=truth, k=10)
    assert (found.question, found.id) == ("Who gave it?", "q1")
    assert [(one.name, one.rank, one.reason) for one in found.targets] == [
        ("c2", 3, None),
        ("c12", 13, "below_k"),
        ("c99", None, "not_returned"),
    ]
    assert [one.rank for one in found.results if one.target] == [3]
    assert str(found).startswith("1 of 3 targets is in the first 10 results (rank 3).")


def test_it_says_what_misses_says(truth: Path) -> None:
    chunks = [{"id": f"c{i}", "text": f"chunk {i}"} for i in range(15)]
    found = calipers.explain("q1", retriever=search, ground_truth=truth, k=5, corpus=chunks)
    run = {"q1": [(one["id"], one["score"]) for one in search("", 20)]}
    many = calipers.misses(ground_truth=TRUTH[:1], run=run, k=5, corpus=chunks)
    said = {one.name: one.reason for one in found.targets if one.reason}
    assert said == dict(many.table.select("item", "reason").iter_rows())
    assert said["c99"] == "not_in_corpus"


def test_of_alternatives_one_is_enough(truth: Path) -> None:
    found = calipers.explain("q2", retriever=search, ground_truth=truth, k=3)
    assert (found.sought, found.found) == (1, 1)
    assert [one.reason for one in found.targets] == [None, None]
    assert "an alternative was found" in str(found)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("Where?", "10 results"),
        ("Who gave this?", "does not have this question, so nothing is judged. Did you mean"),
    ],
)
def test_without_targets_nothing_is_judged(asked: str, words: str, truth: Path) -> None:
    found = calipers.explain(asked, retriever=search, ground_truth=truth)
    assert found.targets == ()
    assert words in " ".join(str(found).split())


def test_quotes_are_looked_for_in_the_texts() -> None:
    records = [{"query": "Who?", "ground_truth": [{"quote": "chunk 3"}]}]
    found = calipers.explain("Who?", retriever=search, ground_truth=records, k=5)
    assert [(one.name, one.rank) for one in found.targets] == [("chunk 3", 4)]


def test_nothing_returned_is_an_answer_and_a_failure_an_error(truth: Path) -> None:
    found = calipers.explain("q1", retriever=lambda query, k: [], ground_truth=truth)
    assert {one.reason for one in found.targets} == {"nothing_returned"}
    assert "returned nothing" in str(found)

    def broken(query: str, k: int) -> list[str]:
        raise ValueError("no index")

    with pytest.raises(
        RetrieverFailed, match=r"failed on the only question\. ValueError: no index"
    ):
        calipers.explain("q1", retriever=broken, ground_truth=truth)


def test_ids_that_nobody_knows_are_named(truth: Path) -> None:
    found = calipers.explain("q1", retriever=lambda query, k: ["doc-1"], ground_truth=truth)
    assert "such as 'doc-1', stands anywhere in the ground truth" in found.notes[0]
    assert calipers.explain(
        "q1", retriever=lambda query, k: ["x/c2"], ground_truth=truth, map_ids="prefix=x/"
    ).found


def test_a_question_is_kept_with_its_targets(truth: Path) -> None:
    before = truth.read_text()
    found = calipers.explain("New?", retriever=search, ground_truth=truth, keep=["c3", "c1", "c3"])
    assert truth.read_text() == before + '{"query":"New?","ground_truth":["c3","c1"]}\n'
    said = "".join(str(found).split())
    assert said.startswith(f"Thequestioniskeptin{truth}with2targets.")
    again = calipers.explain("New?", retriever=search, ground_truth=truth, k=3)
    assert (again.found, again.sought) == (1, 2)
    assert [one.name for one in truth.parent.iterdir()] == ["truth.jsonl"]


def test_the_first_question_makes_the_file_and_a_last_line_without_an_end_stays(
    tmp_path: Path,
) -> None:
    new = tmp_path / "new.jsonl"
    calipers.explain("A?", retriever=search, ground_truth=new, keep="c1")
    new.write_text(new.read_text().rstrip())
    calipers.explain("B?", retriever=search, ground_truth=new, keep="c2")
    assert [json.loads(line)["query"] for line in new.read_text().splitlines()] == ["A?", "B?"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("truth.csv", "query,item\nq,a\n", "ends in '.csv', and one line per question"),
        ("runs.jsonl", '{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}\n', "alone"),
        ("quotes.jsonl", '{"query": "q", "ground_truth": [{"quote": "abcdefghij"}]}\n', "alone"),
        ("beir.jsonl", '{"_id": "q", "text": "Q?", "ground_truth": ["a"]}\n', ""),
    ],
)
def test_files_that_no_question_can_be_appended_to(
    name: str, content: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content)
    asked = []

    def counted(query: str, k: int) -> list[str]:
        asked.append(query)
        return ["a"]

    if words:
        with pytest.raises(InvalidInput, match=words):
            calipers.explain("New?", retriever=counted, ground_truth=path, keep="a")
        assert (path.read_text(), asked) == (content, [])
    else:
        calipers.explain("New?", retriever=counted, ground_truth=path, keep="a")
        assert calipers.explain("New?", retriever=counted, ground_truth=path).found == 1


def test_what_is_known_or_was_not_returned_is_not_kept(truth: Path) -> None:
    before = truth.read_text()
    with pytest.raises(InvalidInput, match="has this question already"):
        calipers.explain("When?", retriever=search, ground_truth=truth, keep="c1")
    with pytest.raises(InvalidInput, match=r"No result has the id 'c88'.*Did you mean c8"):
        calipers.explain("New?", retriever=search, ground_truth=truth, keep="c88")
    with pytest.raises(InvalidInput, match="kept in a file"):
        calipers.explain("New?", retriever=search, keep="c1")
    with pytest.raises(InvalidInput, match="question is empty"):
        calipers.explain("  ", retriever=search)
    assert truth.read_text() == before


def test_a_sealed_question_is_neither_asked_nor_added(tmp_path: Path) -> None:
    rows = [{"query": f"Q {i}?", "ground_truth": [f"c{i}"]} for i in range(60)]
    whole = tmp_path / "truth.jsonl"
    whole.write_text("".join(json.dumps(one) + "\n" for one in rows))
    sealed = Path(calipers.seal(whole).files["sealed"])
    before = sealed.read_bytes()
    for keep in (None, "c1"):
        with pytest.raises(SealedQueries):
            calipers.explain("Q 1?", retriever=search, ground_truth=sealed, keep=keep)
    assert sealed.read_bytes() == before


def test_hostile_text_is_no_command_of_the_terminal(truth: Path, tmp_path: Path) -> None:
    program = tmp_path / "odd.py"
    program.write_text(
        "def search(query, k):\n    return [{'id': 'a\\x1b[31m', 'text': '\\x1b]0;x\\x07'}]\n"
    )
    said = calipers_command("explain", "q1", "--retriever", f"{program}:search", "-g", str(truth))
    assert (said.code, "\x1b" in said.out) == (0, False)
