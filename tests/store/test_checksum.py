"""A value that was changed behind our back is never shown as saved."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from calipers.errors import UnreadableFile
from calipers.store.open import open_store
from calipers.store.record import write
from fuzz.stores import attack
from tests.store.saved import read_all, record
from tests.systems import records

COPIES = 12
CHANGES = (
    "UPDATE calipers_summary SET mean = mean + 0.001 WHERE position = 0",
    "UPDATE calipers_summary SET n = n + 1 WHERE position = 0",
    "UPDATE calipers_summary SET metric = 'recall@6' WHERE position = 0",
    "UPDATE calipers_evaluation SET queries = queries + 1",
    "UPDATE calipers_evaluation SET saved = '2020-01-01T00:00:00.000000Z'",
    "UPDATE calipers_evaluation SET saved = 'yesterday'",
    "UPDATE calipers_evaluation SET git_branch = 'other'",
    "UPDATE calipers_evaluation SET facts = replace(facts, '0.95', '0.90')",
    "UPDATE calipers_tag SET value = 'other'",
    "DELETE FROM calipers_tag",
    "DELETE FROM calipers_part WHERE kind = 'definitions'",
    "UPDATE calipers_part SET digest = (SELECT digest FROM calipers_part WHERE evaluation = 1 "
    "AND kind = 'scores') WHERE evaluation = 2 AND kind = 'scores'",
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "history.db"
    store = open_store(path, create=True)
    for day, ranks in enumerate(([1, None], [2, 3])):
        write(store, record(records(ranks), day=day, tags={"model": "e5"})[1])
    return path


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copy(whole, tmp_path / "history.db"))


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_row_is_refused(change: str, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert connection.execute(change).rowcount > 0
    store = open_store(path)
    with pytest.raises(UnreadableFile, match="is damaged"):
        read_all(store)


def test_a_corrupted_file_is_answered_or_gives_what_was_saved(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command gives the answer of the whole file, or a sentence; `make fuzz` tries more."""
    monkeypatch.chdir(tmp_path)
    counts, findings = attack(whole.read_bytes(), COPIES, 5, tmp_path)
    assert findings == []
    assert counts["the same answer"]
    assert counts["refused"]


def test_pages_in_each_others_place_are_refused(path: Path) -> None:
    """Each page is whole; what they hold together is not."""
    whole = path.read_bytes()
    size = int.from_bytes(whole[16:18], "big")
    page = [whole[at : at + size] for at in range(0, len(whole), size)]
    draw = random.Random(5)
    for _ in range(15):
        one, other = sorted(draw.sample(range(1, len(page)), 2))
        if page[one] == page[other]:
            continue
        swapped = list(page)
        swapped[one], swapped[other] = page[other], page[one]
        path.write_bytes(b"".join(swapped))
        with pytest.raises(UnreadableFile):
            open_store(path)
