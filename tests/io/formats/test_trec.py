"""TREC files in all the shapes people have them, and a line for everything that is wrong."""

import gzip
import json
import random as random_module
import re
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import calipers
from calipers import convert, evaluate
from calipers.errors import InvalidInput
from calipers.io.files import open as source
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.formats.trec import plain_format
from calipers.io.load import load
from calipers.io.registry import built_in
from calipers.model.ground_truth import GroundTruth
from calipers.names import words_in

ODD_IDS = [
    *("a", "A", "é", "日本語", "𝄞", "x#y", '"quoted"', "'single'", "comma,comma", "semi;colon"),
    *("a\\b", "no\u00a0break", "wide\u2003space", "null", "NaN", "-", "0", "007", "1e5"),
    *("back`tick", "vertical\x0btab", "form\x0cfeed", "unit\x1fseparator"),
]
NUMBERS = words_in("1 +0.5 .5 5. 1e-3 1E+2 -2.25 0 -0.0 1e300 00.50 0.1234567890123456789")
BLANKS = [" ", "\t", "   ", " \t ", "\t\t"]


def read_run(path: Path) -> dict[str, list[str]]:
    run = load(path, "run").run
    assert run is not None
    frame = run.frame
    return {
        str(query): rows["item"].to_list()
        for (query,), rows in frame.group_by("query", maintain_order=True)
    }


def read_judgements(path: Path) -> dict[tuple[str, str], float]:
    truth = load(path, "ground_truth").ground_truth
    assert truth is not None
    rows = truth.targets.select("query", "item", "grade").iter_rows()
    return {(query, item): grade for query, item, grade in rows}


def naively(text: str) -> dict[str, list[str]]:
    """The ranking of a run file, as plainly as it can be read."""
    rows: dict[str, list[tuple[float, bytes]]] = {}
    for line in text.replace("\r\n", "\n").split("\n"):
        columns = [column for column in re.split("[ \t]+", line) if column]
        if columns and not columns[0].startswith("#"):
            rows.setdefault(columns[0], []).append((float(columns[4]), columns[2].encode()))
    return {q: [item.decode() for _, item in sorted(r, reverse=True)] for q, r in rows.items()}


@st.composite
def run_files(draw) -> str:
    """A run file with every oddity that is allowed."""
    random = random_module.Random(draw(st.integers(0, 2**32)))
    tidy = draw(st.booleans())
    blanks = [draw(st.sampled_from([" ", "\t"]))] if tidy else BLANKS
    end = draw(st.sampled_from(["\n", "\r\n"]))
    names = st.sampled_from(["q1", "q2", "日", "10", "q\u00a01"])
    triples = draw(
        st.lists(
            st.tuples(names, st.sampled_from(ODD_IDS), st.sampled_from(NUMBERS)),
            min_size=1,
            max_size=12,
            unique_by=lambda triple: triple[:2],
        )
    )
    lines = []
    for query, item, score in triples:
        columns = [query, "Q0", item, str(random.randint(-5, 5)), score, "my-tag"]
        columns += ["junk"] * (0 if tidy else random.randint(0, 2))
        line = columns[0] + "".join(random.choice(blanks) + column for column in columns[1:])
        if not tidy and random.random() < 0.3:
            line = random.choice(blanks) + line + random.choice(blanks)
        lines.append(line)
        if not tidy and random.random() < 0.3:
            lines.append(random.choice(["", "# a comment", "  # and another", "\t "]))
    text: str = end.join(lines)
    return text + (end if draw(st.booleans()) else "")


@given(
    run_files(),
    st.sampled_from([1, 7, 64, 1 << 20]),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.booleans(),
)
def test_any_shape_and_any_block_size(
    tmp_path_factory, text: str, block: int, mark: bytes, packed: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "run.txt"
    content = mark + text.encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    with mock.patch.object(source, "BLOCK", block):
        assert read_run(path) == naively(text)


def written(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@given(st.integers(1, 40), st.data(), st.sampled_from([1, 64, 1 << 20]), st.booleans())
def test_an_id_with_a_blank_is_refused_wherever_it_stands(
    tmp_path_factory, n: int, data, block: int, tagged: bool
) -> None:
    at = data.draw(st.integers(0, n - 1))
    tags = data.draw(st.lists(st.sampled_from(["t", "my tag"]), min_size=n, max_size=n))
    names = ["my doc" if i == at else f"d{i}" for i in range(n)]
    lines = [
        f"q Q0 {name} {i} {n - i}.5 {tag if tagged else ''}"
        for i, (name, tag) in enumerate(zip(names, tags, strict=True))
    ]
    path = written(tmp_path_factory.getbasetemp() / "blank.txt", *lines)
    with (
        mock.patch.object(source, "BLOCK", block),
        pytest.raises(InvalidInput, match=rf"blank.txt:{at + 1} has the rank 'doc'; .* %20"),
    ):
        read_run(path)
    fine = [line.replace("my doc", "my%20doc") for line in lines]
    assert read_run(written(path, *fine)) == naively("\n".join(fine))


def test_rank_and_score_in_each_others_place_are_refused(tmp_path: Path) -> None:
    run = written(tmp_path / "run", "q Q0 a 0.9 1 t", "q Q0 b 0.8 2 t", "r Q0 a 1 1 t")
    with pytest.raises(InvalidInput, match=r"rank 0\.9 and the score 1: .* seem to be exchanged"):
        read_run(run)
    fractions = written(tmp_path / "run", "q Q0 a 0.5 7 t", "q Q0 b 1.5 3 t")
    assert read_run(fractions) == {"q": ["a", "b"]}


def test_judgements_in_any_shape(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_bytes("\ufeff# made by hand\r\n q 0\ta  1\r\n\r\nq\t0 日 -1\r\nr 0 a +2.5".encode())
    assert read_judgements(path) == {("q", "a"): 1.0, ("q", "日"): -1.0, ("r", "a"): 2.5}


def test_an_id_of_ten_thousand_characters(tmp_path: Path) -> None:
    query, item = "q" * 10_000, "é" * 10_000
    run = written(tmp_path / "run", f"{query} Q0 {item} 1 0.5 t", f"{query} Q0 b 2 0.25 t")
    judgements = written(tmp_path / "qrels", f"{query} 0 {item} 1")
    for block in (64, 1 << 20):
        with mock.patch.object(source, "BLOCK", block):
            scores = calipers.evaluate(ground_truth=judgements, run=run, metrics="mrr")
        assert scores.per_query["query"].to_list() == [query]
        assert scores["mrr"].mean == 1.0


def test_scores_keep_their_last_digit(tmp_path: Path) -> None:
    run = written(tmp_path / "run", "q Q0 a 1 0.1 t", "q Q0 b 2 0.10000000000000002 t")
    assert read_run(run) == {"q": ["b", "a"]}


@pytest.mark.parametrize("block", [16, 1 << 20])
@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"q Q0 caf\xe9 2 0.5 t", r"run:3:9 is not valid UTF-8 \(byte 0xe9\)"),
        (b"q Q0 a 1 high t", "has the score 'high'"),
        (b"q", "has 1 columns"),
    ],
)
def test_a_bad_line_is_named_in_any_block(block: int, line: bytes, words: str, tmp_path) -> None:
    run = tmp_path / "run"
    run.write_bytes(b"q Q0 a 1 1.0 t\n# comment\n" + line + b"\n")
    with mock.patch.object(source, "BLOCK", block), pytest.raises(InvalidInput, match=words) as bad:
        calipers.evaluate(ground_truth={"q": ["a"]}, run=run)
    assert f"{run}:3" in str(bad.value)


@given(
    st.lists(
        st.lists(
            st.sampled_from(["q", "Q0", "0", "d1", "3", "0.5", "-2", "x"]), min_size=3, max_size=7
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([" ", "\t"]),
)
@example([["q", "Q0", "d1", "1", "0.5", "x"]], " ")
@example([["q", "0", "d1", "3"]], " ")
def test_what_is_plainly_trec_is_claimed_by_no_other_form(lines, separator):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_text("".join(separator.join(line) + "\n" for line in lines))
        probe = Probe(Source(path))
        plain = plain_format(probe)
        if plain is not None:
            claimed = [form for form in built_in() if not form.fallback and form.detect(probe)]
            assert [type(form) for form in claimed] == [type(plain)]


SUBTOPICS = {
    "the example of ndeval": "q 1 A 1|q 2 B 1|q 2 D 1|q 3 C 1",
    "from 0 on": "q 0 A 1|q 1 A 1|q 1 B 0",
    "one item under two, numbers left out": "q 2 A 1|q 7 A 2|q 7 B 1",
    "one query has one": "q 1 A 1|q 2 B 1|r 1 A 1|r 1 B 1",
    "names": "q who A 1|q when B 1|q when A 0",
}
PLAIN = {
    "a constant": "q 0 A 1|q 0 B 1|r 0 A 1",
    "another constant": "q Q0 A 1|q Q0 B 1",
    "one value for each query": "q 1 A 1|q 1 B 0|r 2 A 1",
    "half rounds (TREC-COVID)": "q 0.5 A 1|q 1 B 0|r 1.5 A 1",
    "rounds that begin anywhere (TREC RAG)": "q 3 A 1|q 4 B 0|r 2 A 1",
    "a constant in two spellings": "q Q0 A 1|q 0 B 0",
}


def read(path: Path, lines: str) -> GroundTruth:
    path.write_text(lines.replace("|", "\n") + "\n")
    truth = load(path, "ground_truth").ground_truth
    assert truth is not None
    return truth


@pytest.mark.parametrize("name", SUBTOPICS)
def test_subtopics_are_read_in_any_order_of_lines(tmp_path: Path, name: str) -> None:
    lines = SUBTOPICS[name].split("|")
    expected = {tuple(line.split()) for line in lines}
    Random(name).shuffle(lines)
    truth = read(tmp_path / "qrels", "|".join(lines))
    found = truth.targets.select("query", "group", "item", "grade").iter_rows()
    assert {(query, group, item, f"{grade:g}") for query, group, item, grade in found} == expected
    assert "names subtopics" in truth.notes[0]


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_no_subtopic_is_not_read(tmp_path: Path, name: str) -> None:
    truth = read(tmp_path / "qrels", PLAIN[name])
    assert not truth.has_groups
    varies = name.startswith(("half", "rounds", "a constant in two"))
    assert [note for note in truth.notes if "was not read" in note] == [*truth.notes][:varies]
    assert len(truth.notes) == varies


def test_a_round_does_not_hide_a_contradiction(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"qrels:1 and 1 at .*qrels:2; keep one"):
        read(tmp_path / "qrels", "q 0.5 A 0|q 1.5 A 1")


def test_the_published_example_of_ndeval_from_its_files(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("0 1 A 1\n0 2 B 1\n0 2 D 1\n0 3 C 1\n")
    run.write_text("".join(f"0 Q0 {item} {i} {9 - i} t\n" for i, item in enumerate("ADEB", 1)))
    scores = calipers.evaluate(ground_truth=qrels, run=run, metrics="alpha_ndcg@5,st_recall@5")
    assert scores["alpha_ndcg@5"].mean == pytest.approx(0.7868, abs=1e-4)
    assert scores["recall@5"].mean == pytest.approx(2 / 3)
    assert any("names subtopics" in note for note in scores.settings["notes"])


NAMES = st.text(st.sampled_from("ab %#20"), min_size=1, max_size=5).map(str.strip).filter(bool)


@given(
    truth=st.dictionaries(NAMES, st.dictionaries(NAMES, st.integers(0, 3), min_size=1), min_size=1),
    ranking=st.lists(NAMES, min_size=1, unique=True),
)
def test_ids_with_blanks_are_read_back_as_they_were(truth, ranking, tmp_path_factory) -> None:
    """Written by convert and used beside the original: %20 is a blank again, %25 a percent sign."""
    folder = tmp_path_factory.mktemp("back")
    run = dict.fromkeys(truth, ranking)
    rows = [{"query": q, "retrieved": run[q], "ground_truth": truth[q]} for q in truth]
    source = folder / "in.json"
    source.write_text(json.dumps(rows), encoding="utf-8")
    convert(source, folder / "out.qrels")
    convert(source, folder / "out.run")
    pairs = [
        (folder / "out.qrels", run),
        (truth, folder / "out.run"),
        (folder / "out.qrels", folder / "out.run"),
    ]
    settings: dict[str, Any] = {
        "metrics": "ndcg",
        "nothing_in_common": "zero",
        "unanswerable": "zero",
    }
    expected = evaluate(ground_truth=truth, run=run, **settings)["ndcg"].mean
    for judged, ranked in pairs:
        found = evaluate(ground_truth=judged, run=ranked, **settings)["ndcg"].mean
        assert found == pytest.approx(expected)


def test_a_percent_sign_of_others_stays_as_it_is(tmp_path) -> None:
    run = tmp_path / "their.run"
    run.write_text("q Q0 a%20b 1 2.0 bm25\nq Q0 c 2 1.0 bm25\n", encoding="utf-8")
    assert load(run, "run").run.frame["item"].to_list() == ["a%20b", "c"]
