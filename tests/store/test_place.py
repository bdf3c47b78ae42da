"""Where the history is looked for, and what is shown of its address."""

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput, UnreadableFile
from calipers.store.place import locate, place_of, without_password


@pytest.fixture
def here(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.delenv("CALIPERS_STORE", raising=False)
    inner = tmp_path / "project" / "src"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    return inner


def make(folder: Path) -> Path:
    (folder / ".calipers").mkdir()
    path = folder / ".calipers" / "history.db"
    path.touch()
    return path


def test_the_nearest_history_of_the_folders_above_is_found(here):
    above = make(here.parent)
    assert locate().path == locate(create=True).path == above
    path = make(here)
    assert locate().path == path


def test_a_new_history_stands_beside_git_or_in_the_working_folder(here):
    with pytest.raises(UnreadableFile, match="calipers eval … --save NAME"):
        locate()
    assert locate(create=True).path == here / ".calipers" / "history.db"
    (here.parent / ".git").mkdir()
    assert locate(create=True).path == here.parent / ".calipers" / "history.db"


def test_what_is_given_goes_before_the_environment_before_the_configuration(here, monkeypatch):
    make(here)
    (here.parent / "calipers.toml").write_text('store = "configured.db"\n')
    assert locate().path == here.parent / "configured.db"
    monkeypatch.setenv("CALIPERS_STORE", "environment.db")
    assert locate().path == here / "environment.db"
    assert locate("given.db").path == here / "given.db"


NOT_USED = (
    "sqlite:// sqlite:/// sqlite:///:memory: postgresql:// postgresql://db "
    "mysql://ann:s3cret@db/team mongodb+srv://ann:s3cret@db postgresql://ann:s3cret@db:x/t"
)


@pytest.mark.parametrize("address", ["", " ", "a\x00b", *NOT_USED.split()])
def test_addresses_that_cannot_be_used(address):
    with pytest.raises(InvalidInput) as caught:
        place_of(address)
    assert "s3cret" not in str(caught.value)


secrets = st.text(st.characters(codec="utf-8", exclude_characters="?#&\x00"), min_size=4)


@given(secrets)
def test_no_password_is_ever_shown(secret):
    written = quote(secret, safe="")
    place = place_of(f"postgresql://ann:{written}@db/team")
    for form in (secret, written):
        shown = without_password(f"postgresql://ann:{form}@db.example/team?sslmode=require")
        assert shown == "postgresql://ann:***@db.example/team?sslmode=require"
        assert f"with {form} to" not in place.redact(f"could not connect with {form} to db")


def test_parameters_that_look_secret_are_hidden():
    place = place_of("postgresql://db/team?user=ann&password=hush1&sslmode=require")
    assert place.shown == "postgresql://db/team?user=ann&password=***&sslmode=require"
    assert place.redact("password=hush1 host=db") == "password=*** host=db"
    assert "hush1" not in repr(place)
