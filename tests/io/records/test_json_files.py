import json

import pytest

from calipers.io.files.open import HEAD, Source
from calipers.io.records.json_files import look

RECORD = {"query": "q", "ground_truth": {"a": 1}}


def seen(tmp_path, text):
    path = tmp_path / "data"
    path.write_text(text)
    found = look(Source(path))
    return found.shape, set(found.first)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        (json.dumps([RECORD]), "list"),
        (json.dumps([RECORD], indent=2), "list"),
        (json.dumps(RECORD), "object"),
        (json.dumps(RECORD) + "\n\n", "object"),
        (json.dumps(RECORD, indent=2), "object"),
        (json.dumps(RECORD) + "\n" + json.dumps(RECORD), "lines"),
        ("\n\n" + json.dumps(RECORD) + "\n\n" + json.dumps(RECORD) + "\n", "lines"),
        (json.dumps(RECORD) + "\nbroken\n", "lines"),
    ],
)
def test_the_shape_and_the_keys_of_the_first_record(tmp_path, text, shape):
    assert seen(tmp_path, text) == (shape, {"query", "ground_truth"})


def test_a_first_record_longer_than_what_is_looked_at_first_and_none_at_all(tmp_path):
    long = {"retrieved": [{"text": "é" * HEAD}], "query": "q"}
    keys = {"retrieved", "query"}
    assert seen(tmp_path, json.dumps([long], ensure_ascii=False)) == ("list", keys)
    assert seen(tmp_path, json.dumps(long)) == ("object", keys)
    assert seen(tmp_path, json.dumps(long) + "\n" + json.dumps(long)) == ("lines", keys)
    assert seen(tmp_path, "[]") == ("list", set())
