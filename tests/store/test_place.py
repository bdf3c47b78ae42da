"""Where the history is looked for, and what is shown of its address."""

from pathlib import Path

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


def test_a_history_is_found_in_a_folder_above(here):
    path = make(here.parent)
    assert locate().path == path


def test_the_nearest_history_wins(here):
    make(here.parent)
    assert locate(create=True).path == here.parent / ".calipers" / "history.db"
    path = make(here)
    assert locate().path == path


def test_a_new_history_stands_beside_git_or_in_the_working_folder(here):
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


def test_an_address_in_the_configuration_is_no_path(here):
    (here / "calipers.toml").write_text('store = "postgresql://ann@db/team"\n')
    assert locate().shown == "postgresql://ann@db/team"


def test_no_history_at_all_says_how_to_make_one(here):
    with pytest.raises(UnreadableFile, match="calipers eval … --save NAME"):
        locate()


@pytest.mark.parametrize(
    "address",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "",
        " ",
        "postgresql://",
        "postgresql://db",
        "mysql://ann:s3cret@db/team",
        "mongodb+srv://ann:s3cret@db",
        "postgresql://ann:s3cret@db:x/t",
    ],
)
def test_addresses_that_cannot_be_used(address):
    with pytest.raises(InvalidInput) as caught:
        place_of(address)
    assert "s3cret" not in str(caught.value)


def test_paths_in_addresses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert place_of("sqlite:///a%20b.db").path == tmp_path / "a b.db"
    assert place_of("sqlite:////folder/h.db").path == Path("/folder/h.db")


secrets = st.text(st.characters(codec="utf-8", exclude_characters="?#&\x00"), min_size=4)


@given(secrets)
def test_no_password_is_ever_shown(secret):
    from urllib.parse import quote

    for written in {secret, quote(secret, safe="")}:
        shown = without_password(f"postgresql://ann:{written}@db.example/team?sslmode=require")
        assert shown == "postgresql://ann:***@db.example/team?sslmode=require"


@given(st.text("abcdefgh%@:/", min_size=6))
def test_a_drivers_message_is_cleaned_of_the_password(secret):
    from urllib.parse import quote

    place = place_of(f"postgresql://ann:{quote(secret, safe='')}@db/team")
    for form in (secret, quote(secret, safe="")):
        assert form not in place.redact(f"could not connect with {form} to db")


def test_parameters_that_look_secret_are_hidden():
    place = place_of("postgresql://db/team?user=ann&password=hush1&sslmode=require")
    assert place.shown == "postgresql://db/team?user=ann&password=***&sslmode=require"
    assert place.redact("password=hush1 host=db") == "password=*** host=db"
    assert "hush1" not in repr(place)
