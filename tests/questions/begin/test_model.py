"""Questions that a model writes from a folder: four styles, filters, a price, and going on."""

import io
import json

import pytest

import calipers
from calipers.errors import RetrieverFailed
from tests.command import calipers_command
from tests.live.chat.model_server import running

FILLER = "This goes on for a while, so that the passage is long enough to ask something about it."


@pytest.fixture
def server():
    with running() as one:
        yield one


def write_docs(folder, *sentences):
    folder.mkdir()
    for number, sentence in enumerate(sentences):
        text = f"{sentence}. {FILLER} Number {number}.\n"
        (folder / f"page{number}.txt").write_text(text)
    return folder


def made(server, docs, **settings):
    return calipers.first_questions(docs, endpoint=server.endpoint, model="m", **settings)


ANIMALS = [
    *("The keeper feeds the otters", "The lamp burns oil of seals", "Gulls nest upon the tower"),
    *("The boat brings flour weekly", "A bell rings in dense fog", "The stairs count many steps"),
    *("Paint is renewed every spring", "The log lists passing ships"),
]


def test_four_styles_in_turn_and_the_tags_say_so(server, tmp_path):
    found = made(server, write_docs(tmp_path / "docs", *ANIMALS))
    styles = {one["tags"]["style"] for one in found.records}
    assert {one["tags"]["source"] for one in found.records} == {"machine:m"}
    assert styles <= {"keywords", "question", "paraphrase", "unanswerable"}
    prompts = [one["messages"][-1]["content"] for one in server.requests]
    assert len({one.rpartition("Style: ")[2] for one in prompts}) == 4
    assert not found.is_smoke_test
    assert 0.0 <= found.recall <= 1.0
    for one in found.records:
        assert bool(one["ground_truth"]) == (one["tags"]["style"] != "unanswerable")


def test_what_does_not_hold_is_dropped_and_kept_in_a_file(server, tmp_path):
    docs = write_docs(tmp_path / "docs", *ANIMALS, "[invents] Some words stand at this place")
    found = made(server, docs)
    reasons = {one.reason for one in found.rejected}
    assert reasons & {"the quote does not stand in the chunk", "a passage may answer it"}
    assert len(found.rejected) + len(found.records) == 9
    found.write(tmp_path / "out")
    lines = (tmp_path / "out" / "dropped.jsonl").read_text().splitlines()
    assert [json.loads(one)["reason"] for one in lines] == [one.reason for one in found.rejected]
    # What labels dropped from earlier questions stays.
    (tmp_path / "out" / "questions.jsonl").unlink()
    found.write(tmp_path / "out")
    assert (tmp_path / "out" / "dropped.jsonl").read_text().splitlines() == [*lines, *lines]


def test_nothing_usable_is_a_sentence(server, tmp_path):
    docs = write_docs(tmp_path / "docs", "[nothing] Some words stand at this place here")
    with pytest.raises(RetrieverFailed, match="No question of m can be used"):
        made(server, docs)


def test_the_command_asks_first_and_goes_on_from_its_cache(server, tmp_path, monkeypatch):
    write_docs(tmp_path / "docs", *ANIMALS)
    monkeypatch.chdir(tmp_path)
    words = ("init", "docs", "--endpoint", server.endpoint, "--model", "m", "--price", "2")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    stopped = calipers_command(*words)
    assert (stopped.code, server.requests) == (130, [])
    assert "Ask m 8 prompts, about" in stopped.err
    assert not (tmp_path / "questions.jsonl").exists()
    done = calipers_command(*words, "--yes")
    assert done.code == 0, done.err
    asked = len(server.requests)
    assert asked == 8
    (tmp_path / "questions.jsonl").unlink()
    assert calipers_command(*words, "--yes").code == 0
    assert len(server.requests) == asked


def test_endpoint_and_model_belong_together(tmp_path):
    done = calipers_command("init", str(write_docs(tmp_path / "docs", *ANIMALS)), "--model", "m")
    assert done.code == 2
    assert "--endpoint" in done.err
