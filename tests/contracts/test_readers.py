"""What holds for every form Calipers reads, walked over the registry."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from calipers import convert
from calipers.errors import CalipersError, InvalidInput
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.format import RowFormat, WholeFormat
from calipers.io.load import load
from calipers.io.registry import built_in, named, recognise
from calipers.model.matched import Dataset, Role

FIXTURES = Path(__file__).parent.parent / "data" / "formats"
ROLES: dict[str, Role] = {
    "mapping": "ground_truth",
    "kilt": "ground_truth",
    "mteb_predictions": "run",
}
"""Forms that do not say themselves what they are."""
REQUIRED: dict[str, tuple[str | int, ...]] = {
    "ours": ("query",),
    "quepid_book": ("doc_id",),
    "chunking_evaluation": ("corpus_id",),
    "hotpotqa": ("question",),
    "openinference": ("attributes", "input.value"),
    "langsmith": ("inputs", "query"),
    "langsmith_examples": ("inputs", "question"),
    "opensearch_judgements": ("judgmentRatings", 0, "query"),
    "langfuse": ("input", "query"),
    "ubi": ("user_query",),
    "llama_index": ("queries",),
    "rank_eval": ("requests", 0, "ratings", 0, "_id"),
    "otlp": ("resourceSpans", 0, "scopeSpans", 0, "spans", 0, "attributes", 1),
}
"""The path to a required field in the fixture of a form, where it is not the first of a row."""
MIXED = ("ragas", "deepeval", "openinference", "langfuse", "ours", "hotpotqa", "otlp")
"""Fixtures whose fields hold several types, which a Parquet column cannot."""


def fixture(name: str) -> Path:
    found = [path for path in FIXTURES.iterdir() if path.name.split(".")[0] == name]
    assert len(found) == 1, f"write one fixture for the form {name} in {FIXTURES}"
    return found[0]


def required(name: str) -> tuple[str | int, ...]:
    """The path to a required field: as noted above, or the first one of a row's struct."""
    if name in REQUIRED:
        return REQUIRED[name]
    row = getattr(named(name), "row", None)
    fields = msgspec.structs.fields(row) if hasattr(row, "__struct_fields__") else ()
    found = next((field.encode_name for field in fields if field.required), None)
    assert found is not None, f"note a required field of the form {name} in REQUIRED"
    return (found,)


def read(path: Any, name: str) -> Dataset:
    return load(path, ROLES.get(name, "both"))


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of a row form's fixture as plain dictionaries."""
    path = fixture(name)
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    if path.suffix == ".csv":
        table = pl.read_csv(path, infer_schema=False)
        return [{k: v for k, v in row.items() if v is not None} for row in table.to_dicts()]
    whole = json.loads(path.read_text())
    if name == "otlp":  # an export is one row
        return [whole]
    return whole if isinstance(whole, list) else next(iter(whole.values()))


def assert_same(one: Dataset, other: Dataset) -> None:
    assert facts(one) == facts(other)


def facts(dataset: Dataset) -> dict[str, Any]:
    """What two readings of the same have in common."""
    found: dict[str, Any] = {}
    if (truth := dataset.ground_truth) is not None:
        found["targets"] = truth.fingerprint
        texts = truth.queries.select("query", "text").rows()
        found["texts"] = {query: text or query for query, text in texts}
        found["tags"] = {name: column.to_list() for name, column in truth.tags.items()}
    if (run := dataset.run) is not None:
        rows = run.frame.sort("query", "rank").to_dicts()
        found["results"] = [{k: v for k, v in row.items() if v is not None} for row in rows]
        about = [] if run.queries is None else run.queries.sort("query").to_dicts()
        known = ((row["query"], row.get("latency_ms"), row.get("error")) for row in about)
        found["queries"] = [row for row in known if row[1:] != (None, None)]
    return found


NAMES = [form.name for form in built_in() if form.name != "records"]
EVERY = pytest.mark.parametrize("name", NAMES)
ROW_NAMES = [form.name for form in built_in() if isinstance(form, RowFormat) and not form.fallback]
WHOLE_NAMES = [form.name for form in built_in() if isinstance(form, WholeFormat)]
EVERY_ROW = pytest.mark.parametrize("name", ROW_NAMES)


@EVERY
def test_it_is_recognised_by_its_content_and_by_no_other_form(name):
    probe = Probe(Source(fixture(name)))
    role = ROLES.get(name, "both")
    claims = [
        form.name
        for form in built_in()
        if not form.fallback
        and form.detect(probe)
        and (role == "both" or form.only in (None, role))
    ]
    assert claims in ([name], []), claims
    assert recognise(probe, role).name == name


@EVERY
def test_it_brings_a_ground_truth_or_a_run(name):
    dataset = read(fixture(name), name)
    assert dataset.ground_truth is not None or dataset.run is not None
    assert dataset.kind


COPIES: dict[str, Callable[[bytes], bytes]] = {
    "data": bytes,
    "{}.gz": gzip.compress,
    # As Windows writes it: a byte order mark, and two characters at the end of a line.
    "{}": lambda content: b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"),
}
"""Other names and contents of a file that hold the same; a folder is known by the names in it."""


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("name", [name for name in NAMES if fixture(name).is_file()])
def test_name_compression_and_line_ends_do_not_matter(name, copy, tmp_path):
    path = fixture(name)
    other = tmp_path / copy.format(path.name)
    other.write_bytes(COPIES[copy](path.read_bytes()))
    assert_same(read(path, name), read(other, name))


@EVERY
def test_our_own_form_keeps_everything(name, tmp_path):
    path, out = fixture(name), tmp_path / "ours.jsonl"
    before = read(path, name)
    source: dict[str, Any] = {ROLES[name]: path} if name in ROLES else {"data": path}
    done = convert(output=out, **source)
    assert not done.lost
    assert_same(before, load(out, "both"))


@EVERY
def test_it_can_be_named_where_the_content_does_not_say(name):
    form = named(name)
    dataset = form.read(Probe(Source(fixture(name))), ROLES.get(name, "both"))
    assert_same(dataset, read(fixture(name), name))


@EVERY
def test_a_file_read_as_a_form_it_has_not_is_an_error_in_words(name, tmp_path):
    """Whoever names a wrong form gets a sentence, or what can be read that way; never a crash."""
    for given in (form.name for form in built_in()):
        out = tmp_path / f"{given}.jsonl"
        try:
            done = convert(fixture(name), out, form=given)
        except CalipersError:
            assert not out.exists()
        else:
            assert done.read == (given,)


@pytest.mark.parametrize("name", [*ROW_NAMES, *WHOLE_NAMES])
def test_a_missing_required_field_is_named_with_its_place(name, tmp_path):
    whole, path = _json_of(name), required(name)
    inner = whole
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(whole))
    with pytest.raises(InvalidInput) as caught:
        load(broken, ROLES.get(name, "both"))
    said = str(caught.value)
    field = path[-1] if isinstance(path[-1], str) else "input.value"
    others = ("has no id", "neither an id") if field == "_id" else ("no '",)
    known = (f"no '{field}'", f"no attribute '{field}'", *others)
    assert any(one in said for one in known), said
    assert f"{broken} $" in said or f"{broken}:1 $" in said, said


def _json_of(name: str) -> Any:
    """The fixture as one JSON value: a single record for a row form, else the whole object."""
    if name in WHOLE_NAMES:
        return json.loads(fixture(name).read_text())
    record = rows_of(name)[1 if name == "openinference" else 0]
    if name == "chunking_evaluation":
        record["references"] = json.loads(record["references"])
    return record


@EVERY_ROW
def test_a_list_of_dictionaries_in_memory_is_the_same(name):
    rows = rows_of(name)
    if name == "chunking_evaluation":
        for row in rows:
            row["references"] = json.loads(row["references"])
    assert_same(load(rows, "both"), read(fixture(name), name))


@pytest.mark.parametrize("name", [name for name in ROW_NAMES if name not in MIXED])
@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_the_same_rows_in_a_binary_table_are_the_same(name, suffix, tmp_path):
    frame = pl.DataFrame(rows_of(name))
    path = tmp_path / f"table{suffix}"
    frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path)
    assert_same(load(path, "both"), read(fixture(name), name))
    assert_same(load(frame, "both"), read(fixture(name), name))
    assert_same(load(frame.to_pandas(), "both"), read(fixture(name), name))


@pytest.mark.parametrize("name", [name for name in ROW_NAMES if name not in MIXED])
def test_a_dataset_saved_to_disk_is_the_same(name, tmp_path):
    frame = pl.DataFrame(rows_of(name))
    files = [f"data-0000{i}-of-00002.arrow" for i in range(2)]
    frame[:1].write_ipc_stream(tmp_path / files[0])
    frame[1:].write_ipc_stream(tmp_path / files[1])
    (tmp_path / "dataset_info.json").write_text("{}")
    state = {"_data_files": [{"filename": file} for file in files], "_split": "train"}
    (tmp_path / "state.json").write_text(json.dumps(state))
    assert_same(load(tmp_path, "both"), read(fixture(name), name))


def test_an_empty_list_is_an_error(tmp_path):
    path = tmp_path / "empty.json"
    path.write_text("[]")
    with pytest.raises(InvalidInput, match="holds no queries"):
        load(path, "both")


def test_every_form_is_in_the_documents():
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
    for form in built_in():
        assert f"`{form.name}`" in page, f"describe the form {form.name} in docs/formats.md"
