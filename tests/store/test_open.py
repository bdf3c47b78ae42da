"""Histories that are old, foreign, empty, closed to us or too full: each a sentence."""

import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

import calipers
from calipers.errors import CalipersError, MissingExtra, UnreadableFile, WriteFailed
from calipers.store import open as opening
from calipers.store.listing import count, evaluations
from calipers.store.load import load_retrieved, load_scores
from calipers.store.open import open_store
from calipers.store.record import write
from calipers.store.schema import METADATA, VERSIONS
from calipers.version import pip_install
from tests.store.saved import filled, read_all, record
from tests.systems import records

HISTORIES = Path(__file__).parents[1] / "data" / "histories"
STEP = """
import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade():
    op.add_column("calipers_evaluation", sa.Column("mood", sa.Text(), server_default="good"))
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_a_history_of_every_version_keeps_its_numbers(tmp_path, version):
    path = tmp_path / "history.db"
    shutil.copy(HISTORIES / f"{version}.db", path)
    store = open_store(path)
    expected = msgspec.json.decode((HISTORIES / f"{version}.json").read_bytes())
    found = list(reversed(evaluations(store)))
    read = [
        msgspec.json.decode(msgspec.json.encode(load_scores(store, one).to_dict())) for one in found
    ]
    for now, then in zip(read, expected, strict=True):
        for key in ("summaries", "per_query", "fingerprints"):
            assert now[key] == then[key]
    assert found[1].changed == ("corpus",)
    assert (found[0].tags, found[0].branch, found[1].dirty) == ({"model": "e5"}, "main", True)
    assert load_retrieved(store, found[0]).run.frame.height == 50
    read_all(store)
    with store.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differing = compare_metadata(context, METADATA)
    assert [one for one in differing if "calipers_version" not in str(one)] == []


def test_a_later_version_of_the_tables_keeps_what_was_saved(quick_place, tmp_path, monkeypatch):
    """The way that every later change of the tables goes, with a step made up for it."""
    before = load_scores(filled(quick_place, [[1, 2]]), *evaluations(open_store(quick_place)))
    steps = shutil.copytree(opening.MIGRATIONS, tmp_path / "migrations")
    (steps / "versions" / "v0002.py").write_text(STEP)
    monkeypatch.setattr(opening, "MIGRATIONS", steps)
    monkeypatch.setattr(opening, "HEAD", "0002")
    monkeypatch.setattr(opening, "VERSIONS", ("0001", "0002"))
    store = open_store(quick_place)
    with store.reading() as connection:
        assert opening._version(connection, store.place) == "0002"
        assert connection.execute(text("SELECT mood FROM calipers_evaluation")).scalars().all()
    assert load_scores(store, *evaluations(store)).to_dict() == before.to_dict()
    shown = calipers.history_show(f"@{evaluations(store)[0].name}", store=quick_place)
    assert shown.scores.to_dict() == before.to_dict()


def refusal(place: str | Path, *, create: bool = False) -> str:
    with pytest.raises(CalipersError) as caught:
        open_store(place, create=create)
    return str(caught.value)


def test_what_is_no_history_is_refused(tmp_path):
    words, other, folder = tmp_path / "a.db", tmp_path / "b.db", tmp_path / "c"
    words.write_text("no database")
    folder.mkdir()
    with closing(sqlite3.connect(other, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    for create in (False, True):
        assert "it is not an SQLite database" in refusal(words, create=create)
        assert "SQLite database of something else: it holds songs" in refusal(other, create=create)
        assert "is a folder" in refusal(folder, create=create)
    assert "There is no history" in refusal(tmp_path / "none.db")
    assert "create the folder" in refusal(tmp_path / "no" / "folder" / "h.db", create=True)


def test_an_empty_file_becomes_a_history_when_something_is_saved(tmp_path):
    path = tmp_path / "h.db"
    path.touch()
    assert "is empty: no evaluation was ever saved" in refusal(path)
    filled(str(path), [[1]])
    assert count(open_store(path)) == 1


def test_a_file_cut_short_is_said_to_be_damaged(tmp_path):
    path = tmp_path / "h.db"
    filled(str(path), [[1, 2]] * 3)
    content = path.read_bytes()
    for damaged in (content[: len(content) // 2], content[:4096] + b"\xff" * len(content)):
        path.write_bytes(damaged)
        with pytest.raises(UnreadableFile, match="the file is damaged; put back a copy"):
            evaluations(open_store(path))


@pytest.mark.parametrize(
    ("pragma", "words"),
    [
        ("max_page_count = {pages}", "the disk is full; make room and save again"),
        (
            "query_only = ON",
            r"it is read-only: .* change its permissions.*Nothing was changed",
        ),
    ],
)
def test_a_full_disk_or_one_that_allows_no_changes_loses_nothing(
    tmp_path, monkeypatch, pragma, words
):
    path = tmp_path / "h.db"
    filled(str(path), [[1]])
    pages = path.stat().st_size // 4096
    on_connect = opening._on_connect

    def limited(connection, record_):
        on_connect(connection, record_)
        connection.execute(f"PRAGMA {pragma.format(pages=pages)}")

    monkeypatch.setattr(opening, "_on_connect", limited)
    store = open_store(path)
    with pytest.raises(WriteFailed, match=words):
        write(store, record(records([2] * 500))[1])
    assert count(store) == 1
    read_all(store)


def test_a_missing_driver_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=re.escape(pip_install("postgres"))):
        open_store("postgresql://ann@127.0.0.1/team")


def test_a_server_that_is_not_there_and_passwords_that_stay_secret(server):
    nobody = "postgresql://ann:s3cr%40t@127.0.0.1:9/team"
    said = refusal(nobody)
    assert "cannot be reached" in said
    assert "postgresql://ann:***@127.0.0.1:9/team" in said
    wrong = refusal(server.address(password="wr0ng&pass"))
    missing = refusal(server.address("nowhere"))
    assert "password" in wrong
    assert "nowhere" in missing
    for sentence in (said, wrong, missing):
        for secret in ("s3cr@t", "s3cr%40t", "wr0ng&pass", "wr0ng%26pass", "p@ss", "p%40ss"):
            assert secret not in sentence


def test_a_user_without_permission_is_told_so(server):
    import psycopg

    place = server.new_database()
    filled(place, [[1]])
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("CREATE ROLE guest LOGIN PASSWORD 'gu3st-pass'")
    guest = place.replace(place[place.index("//") + 2 : place.index("@127")], "guest:gu3st-pass")
    said = refusal(guest)
    assert "permission denied" in said
    assert "gu3st-pass" not in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="devices are those of Unix")
@pytest.mark.parametrize("create", [True, False])
def test_a_device_is_no_history_and_nothing_is_left_beside_it(tmp_path, create):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to("/dev/full")
    for place in (pipe, tmp_path / "link", Path("/dev/null")):
        assert "is a folder or a device; name a file" in refusal(place, create=create)
        assert not place.with_name(f"{place.name}-journal").exists()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link", "pipe"]


def test_a_history_that_another_process_makes_meanwhile_is_opened(tmp_path, monkeypatch):
    place, stat = tmp_path / "history.db", Path.stat

    def made_after(path, **how):
        try:
            return stat(path, **how)
        finally:
            if path == place:
                place.touch()

    monkeypatch.setattr(Path, "stat", made_after)
    assert count(open_store(str(place), create=True)) == 0
