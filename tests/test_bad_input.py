"""Every bad input gets one sentence: an error in Python, exit code 2 on the command line."""

# mypy: disable-error-code="arg-type"

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calipers
from calipers.errors import CalipersError, InvalidInput
from calipers.keywords import in_python
from tests.command import calipers_command, refused

RECORDS: list[dict[str, Any]] = [
    {"query": f"q{i}", "retrieved": ["a", "b"], "ground_truth": {"a": 1}} for i in range(5)
]
QRELS = "q0 0 a 1\nq0 0 b 0\n"
RUN = "q0 Q0 a 1 0.9 t\nq0 Q0 b 2 0.5 t\n"


def changed(at: int, **fields: Any) -> list[dict[str, Any]]:
    records = json.loads(json.dumps(RECORDS))
    records[at].update(fields)
    return list(records)


def as_lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


TRUNCATED = json.dumps(RECORDS, indent=1)[:-40]
# The content of one file, and words of the sentence; {} stands for its path.
ONE_FILE: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "empty": ("", ("The file {} is empty",)),
    "only white space": (" \n\t\n", ("The file {} is empty",)),
    "binary": (b"\x7fELF\x02\x01\x00\x00\x00", ("The file {} is binary", "it reads JSON")),
    "damaged gzip": (gzip.compress(b"[" * 5000)[:40], ("compressed file {} is damaged",)),
    "not gzip after all": (b"\x1f\x8bnonsense", ("compressed file {} is damaged",)),
    "unknown format": ("Dear reader\n", ("The format of {} is not known", "'Dear reader'")),
    "truncated": (
        TRUNCATED,
        (f"{{}}:{TRUNCATED.count(chr(10)) + 1}:", "ends in the middle of a value"),
    ),
    "truncated line": (as_lines(RECORDS)[:-20], ("{}:5:", "ends in the middle of a value")),
    "not JSON": ('[{"query": "q", "retrieved": nope}]', ("{}:1:", "is not valid JSON")),
    "a comma too many": ('[{"query": "q"},]', ("{}:1:", "is not valid JSON")),
    "JSON after the end": (json.dumps(RECORDS) + " {}", ("goes on after the end of its value",)),
    "NaN in JSON": (
        '[{"query": "q", "retrieved": {"a": NaN}, "ground_truth": ["a"]}]',
        ("{}:1:", "is not valid JSON"),
    ),
    "an infinite score in JSON": (
        '[{"query": "q", "retrieved": {"a": 1e999}, "ground_truth": ["a"]}]',
        ("{}",),
    ),
    "an empty list": ("[]", ("{} holds no queries",)),
    "a list of numbers": ("[1, 2]", ("{} $[0]",)),
    "wrong type": (json.dumps(changed(3, retrieved=[None])), ("{} $[3].retrieved[0]", "null")),
    "wrong type deep inside": (
        json.dumps(changed(3, retrieved=["a", {"id": "b", "score": "high"}])),
        ("{} $[3].retrieved[1].score", "str"),
    ),
    "wrong type on a line": (
        as_lines(changed(3, retrieved=["a", {"id": "b", "score": "high"}])),
        ("{}:4 $.retrieved[1].score", "str"),
    ),
    "wrong grade": (
        json.dumps(changed(2, ground_truth={"a": "high"})),
        ("{} $[2].ground_truth", "high"),
    ),
    "wrong target": (
        json.dumps(changed(2, ground_truth=["a", ["b"]])),
        ("{} $[2].ground_truth[1]", "array"),
    ),
    "no query": ('[{"retrieved": ["a"], "ground_truth": ["a"]}]', ("{} $[0]", "no 'query'")),
    "no ground truth": (
        json.dumps([{"query": "q", "retrieved": ["a"]}]),
        ("{} has no ground truth, only results", "give one with "),
    ),
    "no results": (
        json.dumps([{"query": "q", "ground_truth": ["a"]}]),
        ("{} has no results, only a ground truth", "--run"),
    ),
    "ground truth here and there": (
        json.dumps([*RECORDS, {"query": "q9", "retrieved": ["a"]}]),
        ("5 of 6 records have 'ground_truth'", "in every record"),
    ),
    "the same query twice": (
        json.dumps(changed(4, query="q1")),
        ("the same query 'q1'", "{} $[1] and {} $[4]"),
    ),
    "a result without anything": (
        json.dumps(changed(1, retrieved=[{"score": 1}])),
        ("{} $[1].retrieved[0]", "neither an id"),
    ),
    "a contradiction": (
        json.dumps(changed(1, ground_truth=[{"id": "a", "grade": 1}, {"id": "a", "grade": 2}])),
        ("two different grades", "target 'a'", "{} $[1].ground_truth"),
    ),
    "invalid UTF-8": (
        b'[{"query": "q",\n "retrieved": ["caf\xe9"], "ground_truth": ["a"]}]',
        ("{}:2:20 is not valid UTF-8 (byte 0xe9)",),
    ),
    "invalid UTF-8 on a line": (
        b'{"query": "p", "retrieved": ["a"], "ground_truth": ["a"]}\n'
        b'{"query": "q", "retrieved": ["caf\xe9"], "ground_truth": ["a"]}\n',
        ("{}:2:34 is not valid UTF-8 (byte 0xe9)",),
    ),
    "unpaired surrogate": (
        '[{"query": "\\ud800", "retrieved": ["a"], "ground_truth": ["a"]}]',
        ("{}",),
    ),
    "a mapping alone": ('{"q": {"a": 1}}', ("can be a ground truth or a run", "--ground-truth")),
    "a run alone": (RUN, ("{} has no ground truth",)),
    "judgements alone": (QRELS, ("{} has no results",)),
}


@pytest.mark.parametrize("fault", ONE_FILE)
def test_one_bad_file(fault: str, tmp_path: Path) -> None:
    content, words = ONE_FILE[fault]
    path = tmp_path / "evals"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidInput) as caught:
        calipers.evaluate(path)
    sentence = refused("eval", path)
    for word in words:
        word = word.replace("{}", str(path))
        assert in_python(word, "=") in str(caught.value)
        assert word in sentence


TWO_FILES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "swapped": (RUN, QRELS, ("The two files are swapped", "exchange them")),
    "swapped records": (
        as_lines([{"query": "q0", "retrieved": ["a"]}]),
        as_lines([{"query": "q0", "ground_truth": ["a"]}]),
        ("The two files are swapped",),
    ),
    "both runs": (RUN, RUN, ("has no ground truth, only results (a TREC run)",)),
    "both judgements": (QRELS, QRELS, ("has no results, only a ground truth (TREC judgements)",)),
    "contradiction": (
        QRELS + "q0 0 a 2\n",
        RUN,
        ("two different grades", "query 'q0', target 'a'", "truth:1 and 2 at", "truth:3"),
    ),
    "NaN score": (QRELS, RUN + "q0 Q0 c 3 nan t\n", ("run:3 has the score 'nan'",)),
    "infinite score": (QRELS, RUN + "q0 Q0 c 3 inf t\n", ("run:3 has the score 'inf'",)),
    "worded score": (QRELS, RUN + "q0 Q0 c 3 good t\n", ("run:3 has the score 'good'",)),
    "NaN grade": (QRELS + "q0 0 c nan\n", RUN, ("truth:3 has the grade 'nan'",)),
    "worded grade": (QRELS + "q0 0 c good\n", RUN, ("truth:3 has the grade 'good'",)),
    "too few columns": (QRELS, RUN + "q0 Q0 c\n", ("run:3 has 3 columns", "has 6")),
    "too few columns in judgements": (QRELS + "q0 0\n", RUN, ("truth:3 has 2 columns", "has 4")),
    "no common ids": (
        "q0 0 DOC-1 1\n",
        "q0 Q0 doc-1 1 1.0 t\n",
        ("no item id in common", "'doc-1'", "'DOC-1'", "upper and lower case"),
    ),
    "no common queries": (
        "q0 0 a 1\n",
        "0 Q0 a 1 1.0 t\n",
        ("no query id in common", "'0'", "'q0'"),
    ),
}


@pytest.mark.parametrize("fault", TWO_FILES)
def test_two_files_that_do_not_fit(fault: str, tmp_path: Path) -> None:
    truth, run, words = TWO_FILES[fault]
    (tmp_path / "truth").write_text(truth)
    (tmp_path / "run").write_text(run)
    with pytest.raises(InvalidInput) as caught:
        calipers.evaluate(ground_truth=tmp_path / "truth", run=tmp_path / "run")
    sentence = refused("eval", "-g", tmp_path / "truth", "-r", tmp_path / "run")
    # The command names an option where Python names a keyword.
    assert in_python(sentence.removeprefix("Error: "), "=") == str(caught.value)
    for word in words:
        assert word in sentence


@pytest.fixture
def evals(tmp_path: Path) -> Path:
    path = tmp_path / "evals.json"
    path.write_text(json.dumps(RECORDS))
    return path


@pytest.mark.parametrize("form", ["query,item\nq,a\n", '{"q": {"a": 1}}'])
def test_one_file_for_both_sides(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("truth").write_text(form)
    assert "truth is given as the ground truth and as the run" in refused(
        "eval", "-g", "truth", "-r", tmp_path / "truth"
    )


def test_one_file_that_holds_both_sides(evals: Path) -> None:
    apart = calipers.evaluate(ground_truth=evals, run=evals, metrics="mrr")
    assert apart["mrr"].mean == calipers.evaluate(evals, metrics="mrr")["mrr"].mean


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("evals", "evals.json"),
        ("evals.jsonl", "evals.json"),
        ("evlas.json", "evals.json"),
        ("EVALS.json", "evals.json"),
        ("other.csv", None),
    ],
)
def test_the_file_that_was_meant(given: str, meant: str | None, evals: Path) -> None:
    sentence = refused("eval", evals.with_name(given))
    assert sentence.endswith(f"Did you mean {meant}?" if meant else "check the path.")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert f"Name a file in {tmp_path}: the folder is in no known format" in refused(
        "eval", tmp_path
    )


def test_nothing_or_half_is_given(evals: Path) -> None:
    assert "Nothing is given to evaluate" in refused("eval")
    assert "A run is given without a ground truth" in refused("eval", "-r", evals)
    assert "A ground truth is given without a run" in refused("eval", "-g", evals)
    assert "Three inputs are given" in refused("eval", evals, "-g", evals, "-r", evals)


@pytest.mark.parametrize("value", [5, None, object(), {1, 2}, b"bytes"])
def test_objects_of_no_known_kind(value: Any) -> None:
    with pytest.raises(InvalidInput):
        calipers.evaluate(ground_truth={"q": ["a"]}, run=value)


Q, HUGE = {"q": ["a"]}, 2**130
VALUES: dict[str, tuple[Callable[[], Any], str]] = {
    "levels of a mapping": (
        lambda: calipers.levels(ground_truth=Q, run=Q, at={}),
        "at of levels is {}; it must be a text or a list",
    ),
    "a complex grade": (
        lambda: calipers.evaluate(ground_truth={"q": {"a": np.complex64(1j)}}, run=Q),
        "a grade is a finite number",
    ),
    "a complex grade in a record": (
        lambda: calipers.evaluate([*changed(0), {**RECORDS[0], "ground_truth": {"a": 1j}}]),
        "of a target is 1j",
    ),
    "an array without dimensions": (
        lambda: calipers.evaluate(ground_truth=np.array(5), run=Q),
        "ground_truth is a ndarray",
    ),
    "one as targets": (
        lambda: calipers.evaluate(ground_truth={"q": np.array("a")}, run=Q),
        "it must be a mapping of item to number or a list of items",
    ),
    "an array as retriever": (
        lambda: calipers.explain("q", ground_truth=Q, retriever=np.array([])),
        "The retriever is a ndarray",
    ),
}


@pytest.mark.parametrize("fault", VALUES)
def test_values_that_other_libraries_would_stumble_over(fault: str) -> None:
    ask, words = VALUES[fault]
    with pytest.raises(InvalidInput) as caught:
        ask()
    assert words in str(caught.value)


def test_ids_and_grades_of_any_size_are_read() -> None:
    found = calipers.evaluate(ground_truth={HUGE: {-HUGE: HUGE}}, run={HUGE: {-HUGE: HUGE}})
    assert found["recall@10"].mean == 1.0
    found = calipers.evaluate([{"query": "q", "retrieved": [HUGE], "ground_truth": [HUGE]}])
    assert found["recall@10"].mean == 1.0


OPTIONS: dict[str, tuple[list[str], str]] = {
    "too many to ask for": (
        ["--retriever", "x:y", "--ask-for", "99999999999"],
        "--ask-for is 99999999999; it must be a whole number of at least 1 and at most 100000",
    ),
    "unknown metric": (["-m", "recal@5"], "no metric called 'recal'. Did you mean recall?"),
    "k of 0": (["-k", "0"], "cut-off k is '0'; k must be a whole number from 1"),
    "k of ten": (["-k", "ten"], "cut-off k is 'ten'"),
    "k of nothing": (["-k", ""], "cut-off k is 'empty'"),
    "k in a metric": (["-m", "recall@0"], "cut-off k is '0'"),
    "no cut-off": (["-m", "recall"], "recall needs a cut-off and has none"),
    "no metric": (["-m", ""], "No metric is named"),
    "rel of 0": (["--rel", "0"], "(rel) is 0.0; it must be a number above 0"),
    "rel of a word": (["--rel", "high"], "The option --rel is 'high'; it must be a number."),
    "confidence of 2": (["--confidence", "2"], "confidence level is 2"),
    "corpus of 0": (["--corpus-size", "0"], "size of the corpus is 0"),
    "unknown option": (["--metric", "mrr"], "No such option"),
    "a second file": (["other.json"], "Several files are given"),
}


@pytest.mark.parametrize("fault", OPTIONS)
def test_bad_options(fault: str, evals: Path) -> None:
    arguments, words = OPTIONS[fault]
    assert words in refused("eval", evals, *arguments)


ARGUMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "no k": ({"k": []}, "No cut-off is given"),
    "metrics": ({"metrics": []}, "No metric is named"),
    "a number as metric": (
        {"metrics": [5]},
        "A metric is given as 5; write its name, such as 'recall@10'.",
    ),
    "confidence": ({"confidence": 95}, "confidence level is 95"),
}


@pytest.mark.parametrize("fault", ARGUMENTS)
def test_bad_arguments(fault: str) -> None:
    arguments, words = ARGUMENTS[fault]
    with pytest.raises(CalipersError) as caught:
        calipers.evaluate(RECORDS, **arguments)
    assert words in str(caught.value)


def test_a_score_that_was_not_asked_for() -> None:
    scores = calipers.evaluate(RECORDS, metrics="recall@5,mrr")
    with pytest.raises(InvalidInput, match=r"have no 'recal@5'; they have recall@5, mrr. Did you"):
        scores["recal@5"]
    with pytest.raises(InvalidInput, match="have no 'score'"):
        scores.of("score")


def test_a_query_of_ten_thousand_characters(tmp_path: Path) -> None:
    path = tmp_path / "evals.json"
    path.write_text(json.dumps(changed(0, query="long " * 2000)))
    printed = calipers_command("eval", path)
    assert printed.code == 0
    assert all(len(line) <= 80 for line in printed.out.splitlines())
    assert calipers_command("eval", path, "--json").code == 0


def test_a_long_id_in_an_error_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "evals.json"
    path.write_text(json.dumps(changed(0, query="q" * 10_000, ground_truth={"a": 1})))
    two = json.loads(path.read_text())
    path.write_text(json.dumps([two[0], two[0]]))
    assert len(refused("eval", path)) < 1000


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_byte_order_marks_and_line_ends_simply_work(
    mark: bytes, end: bytes, tmp_path: Path
) -> None:
    contents: dict[str, str] = {
        "evals.json": json.dumps(RECORDS, indent=1),
        "evals.jsonl": as_lines(RECORDS),
    }
    for name, text in contents.items():
        (tmp_path / name).write_bytes(mark + text.encode().replace(b"\n", end))
        assert calipers.evaluate(tmp_path / name, metrics="mrr")["mrr"].mean == 1.0
    (tmp_path / "truth").write_bytes(mark + QRELS.encode().replace(b"\n", end))
    (tmp_path / "run").write_bytes(mark + RUN.encode().replace(b"\n", end))
    scores = calipers.evaluate(
        ground_truth=tmp_path / "truth", run=tmp_path / "run", metrics="judged@2"
    )
    assert scores["judged@2"].mean == 1.0


def test_the_methods_of_results_answer_in_our_words() -> None:
    pair: dict[str, Any] = {
        "ground_truth": {"q": ["a"], "p": ["b"]},
        "run": {"q": ["a"], "p": ["c", "b"]},
    }
    scores = calipers.evaluate(**pair)
    wrong: Any = []
    for ask, said in [
        (lambda: calipers.sweep(**pair).at(99), "no k = 99; it looked at 1, 2"),
        (lambda: scores.of(wrong), r"named by a text; found \[\]"),
        (lambda: scores[wrong], r"named by a text; found \[\]"),
        (lambda: calipers.Policy.like(wrong), r"cannot imitate \[\]"),
        (lambda: calipers.report(**pair).save(wrong), r"to a path; found \[\]"),
    ]:
        with pytest.raises(InvalidInput, match=said):
            ask()
