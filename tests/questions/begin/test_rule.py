"""From a folder to questions and a first number."""

import io
import json
import random
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest

import calipers
from calipers.errors import InvalidInput, WriteFailed
from calipers.io.documents.walk import corpus_of, read_documents
from calipers.io.load import load_ground_truth
from calipers.questions.audit import rule as audit_rule
from calipers.questions.begin import drawing
from calipers.questions.begin.candidates import in_turns
from calipers.questions.begin.elsewhere import Passages
from calipers.questions.begin.target import find_target
from tests.command import calipers_command

TOPICS = "retries timeouts uploads redirects cookies headers proxies caching logging streams"


def own_words(about, count):
    """Words that stand in no other text."""
    drawn = random.Random(about)
    return " ".join("".join(drawn.choices("bdfglmnprstaeiou", k=7)) for _ in range(count))


def prose(topic, number):
    """A sentence whose words are nearly all its own: no other passage says much of it."""
    own = own_words(f"{topic} {number}", 26)
    return f"Each call with {topic} of kind {number} is checked before {own} answers."


def write_docs(folder: Path, pages: int = 6) -> Path:
    for number in range(pages):
        parts = [f"# Page {number}\n"]
        for topic in TOPICS.split():
            own = own_words(f"{topic} {number} in a heading", 3)
            parts += [f"## Working with {topic} in mode {chr(97 + number)} {own}\n"]
            parts += [prose(topic, number)]
        parts += [f"\n## How do I tune mode {chr(97 + number)}?\n", prose("knobs", number)]
        path = folder / f"page{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(parts) + "\n")
    return folder


def test_a_first_number_from_a_folder(tmp_path):
    docs = write_docs(tmp_path / "docs")
    assert [one.source for one in calipers.first_questions(docs, questions=3).sources] == [
        "headings"
    ]
    found = calipers.first_questions(docs, questions=24, sources=["faq", "headings"])
    assert found.questions == 24
    assert {one.source: one.questions for one in found.sources} == {"faq": 6, "headings": 18}
    assert found.recall == pytest.approx(1.0)
    assert found.interval.low < 1.0
    assert found.is_smoke_test
    # Three of each page: no document fills the set.
    assert [one.documents for one in found.sources] == [6, 6]
    tags = found.records[0]["tags"]
    assert tags == {"source": "faq", "file": "page0.md", "line": 34}
    assert "smoke test" in str(found)


def test_what_is_excluded_makes_room_beside_settings_of_others(tmp_path, monkeypatch):
    docs = write_docs(tmp_path / "docs", pages=14)
    said = "To survive with knobs of a kind, see [Working](page13.md#how-do-i-tune-mode-n)."
    (docs / "a.md").write_text(f"# Begin\n\n{said}\n")
    (tmp_path / "calipers.toml").write_text('ground-truth = "mine.csv"\n')
    monkeypatch.chdir(tmp_path)
    found = {k: calipers.first_questions(docs, sources=["links"], k=k).recall for k in range(5, 20)}
    last = min(k for k, recall in found.items() if recall)
    assert last > 10
    done = calipers_command("init", "docs", "--sources", "links", "-k", str(last))
    [_, measure] = printed_commands(done.out)
    scored = json.loads(calipers_command(*measure, "--json").out)
    assert scored["summaries"][0]["mean"] == 1.0


def test_the_draw_depends_on_the_seed_alone(tmp_path):
    docs = write_docs(tmp_path / "docs")
    first, again, other = (
        calipers.first_questions(docs, questions=12, seed=seed).to_dict() for seed in (1, 1, 2)
    )
    assert first == again
    assert first["records"] != other["records"]


def test_what_several_places_answer_is_dropped(tmp_path):
    docs = write_docs(tmp_path / "docs", pages=1)
    for name in "xy":
        text = f"# Wait for a slow server\n\n{prose('waiting', name)}\n"
        (docs / f"{name}.md").write_text(text)
        (docs / f"{name}2.md").write_text(f"# Copy {name} of pages\n\n{prose('copies', 0)}\n")
    found = calipers.first_questions(docs)
    counts = {one.reason: one.count for one in found.dropped}
    assert counts["the target stands in several places"] == 2
    assert counts["several sections answer it"] + counts.get("asked in several places", 0) >= 2
    # Everything that could be a question is accounted for.
    assert found.considered == found.questions + sum(counts.values())
    assert found.considered == sum(one.read_text().count("# ") for one in docs.iterdir())
    assert not {"Wait for a slow server", "Copy x of pages"} & {
        one["query"] for one in found.records
    }


def test_the_passage_with_the_link_counts_neither_for_nor_against(tmp_path):
    docs = write_docs(tmp_path / "docs", pages=2)
    said = "If you need to survive a broken wire, see [Working](page1.md#how-do-i-tune-mode-b)."
    (docs / "a.md").write_text(f"# Begin\n\n{said}\n")
    found = calipers.first_questions(docs, sources=["links"])
    (one,) = found.records
    assert one["excluded"] == [{"quote": said}]
    run = [{"text": said, "id": "1"}, {"text": one["ground_truth"][0]["quote"], "id": "2"}]
    scores = calipers.evaluate([{**one, "retrieved": run}], metrics="recall@1")
    assert scores["recall@1"].mean == 1.0


def test_a_corpus_file_and_bad_names(tmp_path):
    docs = write_docs(tmp_path / "docs")
    rows = [{"id": one.name, "text": one.read_text()} for one in sorted(docs.iterdir())]
    corpus = tmp_path / "chunks.jsonl"
    corpus.write_text("".join(json.dumps(one) + "\n" for one in rows))
    assert calipers.first_questions(corpus, questions=6).questions == 6
    with pytest.raises(InvalidInput, match="Did you mean headings"):
        calipers.first_questions(docs, sources=["heading"])
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "a.txt").write_text("A text without anything to ask in it at all.")
    nothing = r"of the 1 document in .*: there is no sentence .*, no heading .* and no function"
    with pytest.raises(InvalidInput, match=f"No question could be made {nothing}"):
        calipers.first_questions(tmp_path / "bare")
    for number in range(4):
        (tmp_path / "bare" / f"{number}.md").write_text(f"# Overview\n\n{prose('knobs', number)}\n")
    nothing = r"of the 5 documents in .*: 4 headings, links and others were left out \(4 "
    with pytest.raises(InvalidInput, match=f"No question could be made {nothing}"):
        calipers.first_questions(tmp_path / "bare")


def test_the_command_writes_and_the_next_commands_work(tmp_path, monkeypatch):
    write_docs(tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    done = calipers_command("init", "docs", "--questions", "12")
    assert done.code == 0, done.err
    assert done.out.startswith("A smoke test: word matching finds 100% of 12 targets in the first")
    assert "Wrote questions.jsonl, search.py, calipers.toml." in " ".join(done.out.split())
    assert max(map(len, done.out.splitlines())) <= 80
    for command in ("eval", "misses"):
        assert calipers_command(command).code == 0
    first = calipers.first_questions("docs", questions=12)
    scored = json.loads(calipers_command("eval", "--json").out)
    assert scored["summaries"][0]["mean"] == pytest.approx(first.recall)
    again = calipers_command("init", "docs")
    assert again.code == 2
    assert "questions.jsonl exists already" in again.err


QDRANT = """
import re
import zlib
from qdrant_client import QdrantClient, models


def embed(text):
    vector = [0.0] * 512
    for word in set(re.findall(r"[a-z]{3,}", text.lower())):
        vector[zlib.crc32(word.encode()) % 512] = 1.0
    return vector


parts = [
    part
    for page in sorted((Path(__file__).parent / "docs").rglob("*.md"))
    for part in re.split(r"(?m)^(?=## )", page.read_text())
]
client = QdrantClient(":memory:")
sized = models.VectorParams(size=512, distance=models.Distance.COSINE)
client.create_collection("documents", vectors_config=sized)
client.upsert(
    "documents",
    [
        models.PointStruct(id=at, vector=embed(part), payload={"text": part})
        for at, part in enumerate(parts)
    ],
)
"""
STAND_IN = """
from types import SimpleNamespace as Made


def embed(text):
    return text


def points(name, query, limit):
    rows = [row if isinstance(row, dict) else vars(row) for row in by_words(query, limit)]
    made = [Made(id=row["id"], payload={"text": row["text"]}, score=row["score"]) for row in rows]
    return Made(points=made)


client = Made(query_points=points)
"""


@pytest.mark.parametrize("database", [STAND_IN, QDRANT], ids=["stand-in", "qdrant"])
def test_the_comment_for_a_vector_database_works_without_its_signs(tmp_path, monkeypatch, database):
    if database is QDRANT:
        pytest.importorskip("qdrant_client", reason="qdrant_client is not installed: make adapters")
    write_docs(tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    assert calipers_command("init", "docs", "--questions", "12").code == 0
    path = tmp_path / "search.py"
    words, comment = path.read_text().split("# With a vector database")
    assert "up to 500 characters" in comment
    code = comment.partition("#\n")[2]
    path.write_text(words + database + re.sub(r"(?m)^# ?", "", code))
    scored = json.loads(calipers_command("eval", "--json").out)
    assert scored["summaries"][0]["mean"] >= 0.9


def test_ones_own_retriever_and_k_stand_in_the_settings(tmp_path, monkeypatch):
    write_docs(tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    words = ("init", "docs", "--questions", "3", "--retriever")
    assert calipers_command(*words, "search.py:search", "-k", "5").code == 0
    text = (tmp_path / "calipers.toml").read_text()
    assert 'retriever = "search.py:search"' in text
    assert '"recall@5"' in text
    assert calipers_command(*words, "search", "-o", "other").code == 2


def test_nothing_is_written_into_the_documents(tmp_path, monkeypatch):
    docs = write_docs(tmp_path / "docs")
    before = sorted(one.name for one in docs.iterdir())
    monkeypatch.chdir(docs)
    done = calipers_command("init", ".")
    assert (done.code, done.out) == (2, "")
    assert "Name another folder for the output (-o FOLDER)" in done.err
    with pytest.raises(WriteFailed, match="would be searched"):
        calipers.first_questions(docs, questions=3).write(docs / "inside")
    assert calipers_command("init", ".", "-o", "../out", "--questions", "3").code == 0
    assert sorted(one.name for one in docs.iterdir()) == before
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == [
        "calipers.toml",
        "questions.jsonl",
        "search.py",
    ]


def printed_commands(text):
    """The commands that an answer prints, each as it can be pasted: on one line."""
    found = re.findall(r"calipers (?:eval|labels).*", text)
    return [shlex.split(one)[1:] for one in found]


@pytest.mark.parametrize("into", [(), ("-o", "out folder")], ids=["here", "elsewhere"])
@pytest.mark.parametrize(
    "settings",
    [
        None,
        'ground-truth = "mine.csv"\n',
        'ground-truth = "mine.csv"\nmetrics = ["recall@5"]\nretriever = "mine:search"\n',
    ],
    ids=["new", "others", "other metrics"],
)
def test_every_printed_line_works_as_it_stands(into, settings, tmp_path, monkeypatch):
    write_docs(tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / (into[1] if into else ".")
    if settings is not None:
        folder.mkdir(exist_ok=True)
        (folder / "calipers.toml").write_text(settings)
        (folder / "mine.csv").write_text("question,chunk_id\nWhy?,a#1\n")
    done = calipers_command("init", "docs", "--questions", "12", "-k", "1", *into, columns=50)
    assert "as the first result" in " ".join(done.out.split())
    assert (folder / "search.py").exists() == (settings is None)
    labels, measure = printed_commands(done.out)
    assert calipers_command(*measure).code == 0, measure
    scored = json.loads(calipers_command(*measure, "--json").out)
    first = calipers.first_questions("docs", questions=12, k=1)
    assert scored["summaries"][0]["mean"] == pytest.approx(first.recall)
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    assert calipers_command(*labels).code == 0


@pytest.mark.parametrize(
    "words",
    [
        ["eval"],
        ["sweep"],
        ["misses"],
        ["diagnose"],
        ["gate", "--require", "recall@10 >= 0.1"],
    ],
    ids=lambda words: words[0],
)
def test_a_run_in_that_folder_is_measured_against_its_questions(words, tmp_path, monkeypatch):
    write_docs(tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    assert calipers_command("init", "docs", "--questions", "12").code == 0
    assert calipers_command("retrieve", "-o", "bm25.jsonl").code == 0
    done = calipers_command(words[0], "bm25.jsonl", *words[1:])
    assert done.code == 0, done.err
    assert "Measured against questions.jsonl, which the settings file names." in done.err
    named = calipers_command(words[0], "bm25.jsonl", "-g", "questions.jsonl", *words[1:])
    # A command that is printed repeats what the call said.
    assert done.out == named.out.replace(" -g questions.jsonl", "")


@pytest.mark.parametrize(
    "settings",
    [
        'retriever = "words:docs"\nmetrics = ["recall@3"]\n',
        'metrics = "recall@10,mrr"\n',
        'run = "old.jsonl"\n',
    ],
)
def test_settings_that_name_the_questions_give_the_printed_number(settings, tmp_path, monkeypatch):
    write_docs(tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    Path("calipers.toml").write_text(f'ground-truth = "questions.jsonl"\n{settings}')
    Path("old.jsonl").write_text('{"query": "Why?", "retrieved": ["a"]}\n')
    done = calipers_command("init", "docs", "--questions", "12", "-k", "1")
    assert "names other questions" not in done.out
    _, measure = printed_commands(done.out)
    scored = json.loads(calipers_command(*measure, "--json").out)
    first = calipers.first_questions("docs", questions=12, k=1)
    means = {one["metric"]: one["mean"] for one in scored["summaries"]}
    assert means["recall@1"] == pytest.approx(first.recall)


def test_a_call_that_failed_leaves_nothing_in_the_way_of_the_next(tmp_path, monkeypatch):
    write_docs(tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    Path("calipers.toml").write_text("ground-truth = [")
    assert calipers_command("init", "docs", "--questions", "3").code == 2
    assert sorted(one.name for one in tmp_path.iterdir()) == ["calipers.toml", "docs"]
    Path("calipers.toml").unlink()

    def full(path, text):
        if path.name == "calipers.toml":
            raise WriteFailed("No space left.")
        path.write_text(text)
        return path

    with monkeypatch.context() as patched:
        patched.setattr("calipers.questions.begin.files._write_text", full)
        assert calipers_command("init", "docs", "--questions", "3").code == 2
    assert [one.name for one in tmp_path.iterdir()] == ["docs"]
    assert calipers_command("init", "docs", "--questions", "3").code == 0


def test_a_search_of_ones_own_is_left_and_ours_gets_another_name(tmp_path, monkeypatch):
    write_docs(tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "search.py").write_text("mine")
    done = calipers_command("init", "docs", "--questions", "3")
    assert "Put your own search into calipers_search.py" in " ".join(done.out.split())
    assert (tmp_path / "search.py").read_text() == "mine"
    assert calipers_command("eval").code == 0


def note_of(text):
    """The line that says what kind of questions these are; empty where there is none."""
    joined = " ".join(text.split())
    found = re.search(r"A smoke test: [^.]*\.", joined)
    return "" if found is None else found[0]


SMOKE = "A smoke test: these questions were made from the documents' own words (calipers init)."


def test_every_later_answer_says_that_it_is_a_smoke_test(tmp_path, monkeypatch):
    write_docs(tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    assert calipers_command("init", "docs", "--questions", "12").code == 0
    for name in ("old.jsonl", "new.jsonl"):
        assert calipers_command("retrieve", "-o", name).code == 0
    runs = ("old.jsonl", "new.jsonl", "-g", "questions.jsonl")
    checks = ("--require", "recall@10 >= 0.1")
    for words in (["eval"], ["compare", *runs], ["gate", *checks], ["eval", "--json"]):
        done = calipers_command(*words)
        assert SMOKE in " ".join(done.out.split()), words
    people = [
        {"query": f"Who asked {number}?", "ground_truth": [{"quote": prose("retries", 0)}]}
        for number in range(13)
    ]
    made = Path("questions.jsonl").read_text()
    for count, note in ((4, "A smoke test: 12 of 16 questions were made from documents"), (13, "")):
        some = "".join(json.dumps(one) + "\n" for one in people[:count])
        Path("questions.jsonl").write_text(made + some)
        assert note_of(calipers_command("eval").out).startswith(note)
    assert not note_of(calipers_command("eval").out)


def test_questions_of_a_model_are_said_to_be_those_of_a_model():
    tags = {"source": "machine:small", "file": "a.md", "line": 3}
    rows = [
        {"query": f"q{number}", "tags": tags, "ground_truth": ["a"], "retrieved": ["a"]}
        for number in range(3)
    ]
    assert "A smoke test: a model wrote these questions" in str(calipers.evaluate(rows))
    rows = [{**row, "tags": {"source": "headings"}} for row in rows]
    assert "smoke" not in str(calipers.evaluate(rows))


def test_an_encoding_that_was_guessed_is_named_on_the_first_screen(tmp_path):
    text = f"# Für Änderungen grüßt die Größe\n\n{'Wie süß die Größe für Änderungen grüßt. ' * 3}\n"
    (tmp_path / "alt.md").write_bytes(text.encode("cp1252"))
    (tmp_path / "neu.md").write_text(
        "# Eine Krankmeldung abgeben\n\n" + "Wer krank ist, ruft an. " * 4
    )
    printed = str(calipers.first_questions(tmp_path))
    assert "Not UTF-8, so the encoding is a guess: Windows-1252 (1, as alt.md)." in printed
    # With the files that were written there is one note more.
    into = tmp_path.with_name("elsewhere")
    printed = " ".join(calipers_command("init", tmp_path, "-o", into).out.split())
    assert "Windows-1252 (1, as alt.md)." in printed
    assert "Labels remove unfit questions: calipers" in printed
    (tmp_path / "alt.md").unlink()
    assert "guess" not in str(calipers.first_questions(tmp_path))


def test_pdfs_that_cannot_be_read_are_named_on_the_first_screen(tmp_path, monkeypatch):
    docs = write_docs(tmp_path / "docs")
    for name in ("a.pdf", "b.pdf"):
        (docs / name).write_bytes(b"%PDF-1.4")

    def without_pypdf(path):
        raise ImportError("pypdf")

    monkeypatch.setattr("calipers.io.documents.pdf.text_of_pdf", without_pypdf)
    printed = " ".join(str(calipers.first_questions(docs, questions=3)).split())
    assert "2 PDFs were passed over; to read them: pip install" in printed


def test_every_number_of_the_first_screen_is_a_fact(tmp_path):
    for number in range(12):
        heading = f"# Retry the call of client {'abcdefghijkl'[number]}"
        below = f"{'It waits and calls again. ' * 5}{number}."
        (tmp_path / f"a{number}.md").write_text(f"{heading}\n\n{below}\n")
    found = calipers.first_questions(tmp_path)
    kept = {one["text"]: one["facts"] for one in found.to_dict()["sentences"]}
    first = found.document().sentence
    [fact] = kept[str(first)]
    assert fact["queries"] == found.questions
    assert (fact["metric"], fact["value"]) == ("recall@10", found.recall)
    assert (fact["low"], fact["high"]) == (found.interval.low, found.interval.high)
    [audit] = [facts for text, facts in kept.items() if text.startswith("Audit:")]
    assert [one["count"] for one in audit if one["about"] == "count"] == [
        found.audit["copied"],
        found.audit["near_identical"],
        found.audit["ambiguous"],
    ]


def test_targets_that_pages_share_are_dropped_with_few_searches_of_all_text(tmp_path, monkeypatch):
    """In a folder of many copies each search of all the text took milliseconds, for thousands."""
    shared = "Each call is checked by the server of it before anything of it is answered."
    docs = write_docs(tmp_path / "docs", 2)
    for number, word in enumerate(TOPICS.split()):
        page = f"# Restart the gateway for {word} at night\n\n{shared} {word.title()}!\n"
        (docs / f"copy{number}.md").write_text(page)
        (docs / f"other{number}.md").write_text(page.replace("Restart", "Stop"))
    searched = []
    places_of = drawing._places_of

    def noted(quotes, documents):
        searched.append(quotes)
        return places_of(quotes, documents)

    indexed = []
    passages_of = Passages.of

    def indexed_once(*about):
        indexed.append(about)
        return passages_of(*about)

    monkeypatch.setattr(drawing, "_places_of", noted)
    monkeypatch.setattr(Passages, "of", indexed_once)
    few = calipers.first_questions(docs, questions=3)
    dropped = {left.reason: left.count for left in few.dropped}
    assert dropped["the target stands in several places"] > 10
    assert few.considered == few.questions + sum(dropped.values())
    assert len(searched) <= 4  # 6, 12, 24, 48
    assert len(set().union(*searched)) == sum(map(len, searched))  # none twice
    assert len(indexed) == 1


def test_an_audit_of_the_documents_that_hold_targets_counts_what_one_of_all_counts(
    tmp_path, monkeypatch
):
    """That the others hold none is known: to look all of them through took a fifth of the time."""
    docs = write_docs(tmp_path / "docs", 20)
    read: list[str] = []
    audit = audit_rule.audit

    def noted(truth, corpus):
        read.extend(document for batch in corpus.batches() for document in batch["document"])
        return audit(truth, corpus=corpus)

    monkeypatch.setattr(audit_rule, "audit", noted)
    few = calipers.first_questions(docs, questions=5)
    assert set(read) == {one["tags"]["file"] for one in few.records}
    monkeypatch.undo()
    corpus = corpus_of(read_documents(docs, {}), "docs")
    whole = audit(load_ground_truth([*few.records]), corpus=corpus)
    counts = {finding.kind.name: finding.count for finding in whole.findings}
    names = {"copied": "copied_wording", "near_identical": "near_duplicate_queries"}
    names["ambiguous"] = "ambiguous_quote"
    assert {name: few.audit[name] for name in names} == {
        name: counts.get(kind, 0) for name, kind in names.items()
    }
    assert few.audit["copied"] > 0


def test_what_answers_is_found_only_until_there_are_enough_questions(tmp_path, monkeypatch):
    docs = write_docs(tmp_path / "docs", 20)
    whole = calipers.first_questions(docs, questions=5)
    looked_at = []

    def noted(*about):
        looked_at.append(about)
        return find_target(*about)

    monkeypatch.setattr("calipers.questions.begin.headings.find_target", noted)
    few = calipers.first_questions(docs, questions=5)
    assert few.records == whole.records
    assert 5 <= len(looked_at) < 30
    dropped = {left.reason: left.count for left in few.dropped}
    assert dropped[drawing.NOT_NEEDED] == few.considered - 5 - sum(
        count for reason, count in dropped.items() if reason != drawing.NOT_NEEDED
    )


def test_each_document_has_its_turn_before_the_second_of_any():
    items = [f"{document}{number}" for document in "abc" for number in range(3)]
    order = {item: bytes([sum(map(ord, item)) * 7 % 64]) for item in items}
    for unfit in ([], ["a1"], ["b0", "b1", "b2"], items):
        looked_at: list[str] = []

        def taken(item, looked_at=looked_at, unfit=unfit):
            looked_at.append(item)
            return None if item in unfit else item

        # As if what is not taken had never been there.
        left = [item for item in items if item not in unfit]
        turns: Counter[str] = Counter()
        numbered = []
        for item in sorted(left, key=lambda item: (order[item], items.index(item))):
            numbered.append((turns[item[0]], item))
            turns[item[0]] += 1
        expected = [item for _, item in sorted(numbered, key=lambda turn: turn[0])]
        got = [*in_turns(items, lambda item: item[0], order.get, taken)]
        assert got == expected
        assert sorted(looked_at) == items


def test_several_sentences_with_links_to_one_place_ask_once(tmp_path):
    target = "The client waits for a while and then tries the same call again, five times at most."
    (tmp_path / "b.md").write_text(f"# Calls\n\nText.\n\n## Again and again\n\n{target}\n")
    for name in ("blue", "red"):
        link = "[this](b.md#again-and-again)"
        sentence = f"To try a failed call of the {name} client several times, see {link}."
        (tmp_path / f"{name}.md").write_text(f"# The {name} client\n\n{sentence}\n")
    made = calipers.first_questions(tmp_path, sources=["links"])
    assert len(made.records) == 1
    assert {one.reason: one.count for one in made.dropped}["asked in several places"] == 1


@pytest.mark.parametrize(
    ("surer", "pictures", "asked"),
    [(60, 2, 60), (10, 0.6, 20), (6, 2, 10), (12, 9, 12), (4, 9, 5)],
)
def test_unsure_targets_are_asked_only_where_others_are_too_few(surer, pictures, asked, tmp_path):
    picture = "![a picture](a.png)\n\n" + prose("pictures", 0) + "\n\n"
    parts = ["# Clients\n"]
    for number in range(surer + 45):
        name = f"w{chr(97 + number % 26)}{chr(97 + number // 26)}"
        parts += [f"## Working with {name} in mode {name[::-1]}\n", prose(name, number), ""]
        below = (picture * 9)[: int(len(picture) * pictures)]
        parts += [below] if number >= surer else []
    (tmp_path / "a.md").write_text("\n".join(parts))
    found = calipers.first_questions(tmp_path, questions=100)
    unsure = [one for one in found.records if int(re.findall(r"kind (\d+)", str(one))[0]) >= surer]
    assert (found.questions, len(unsure)) == (asked, max(asked - surer, 0))
    assert {one.reason: one.count for one in found.dropped}[drawing.UNSURE] == surer + 45 - asked
    # Fewer questions are the sure ones.
    few = calipers.first_questions(tmp_path, questions=4)
    assert all(int(re.findall(r"kind (\d+)", str(one))[0]) < surer for one in few.records)


def test_a_target_most_of_which_stands_elsewhere_is_dropped(tmp_path):
    again = "The client waits for a while and then tries the same call again."
    rest = "It stands here alone."
    docs = write_docs(tmp_path / "docs", 1)
    (docs / "x.md").write_text(f"# Wait for a slow server\n\n{again} {rest}\n")
    (docs / "y.md").write_text(f"# Copies of many pages\n\nFirst: no.\n\n- {again}\n")
    asked = [one["query"] for one in calipers.first_questions(docs).records]
    assert "Wait for a slow server" not in asked
    # Where most of it stands nowhere else, it is asked.
    more = f"{again} {prose('waiting', 2)} {rest}"
    (docs / "x.md").write_text(f"# Wait for a slow server\n\n{more}\n")
    asked = [one["query"] for one in calipers.first_questions(docs).records]
    assert "Wait for a slow server" in asked
