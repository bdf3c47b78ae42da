"""BEIR: a folder of queries, corpus and judgements, or the judgements alone."""

import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from calipers.errors import InvalidInput, UnreadableFile, WriteFailed
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.files.write import whole_file
from calipers.io.format import Format, Output, Parts
from calipers.io.formats.table import read_long
from calipers.io.records.entries import (
    MADE_IDS,
    TRUTH_BY_ID,
    Entry,
    Remarks,
    entries,
    id_of,
    plain_number,
)
from calipers.io.records.json_files import BROKEN, explain_mismatch
from calipers.io.records.records import Id
from calipers.model.matched import Dataset, Role
from calipers.names import BEIR_JUDGEMENTS

QUERIES = "queries.jsonl"
QRELS = "qrels"
SPLIT = "test"


class Query(msgspec.Struct):
    """One line of ``queries.jsonl``."""

    text: str
    id: Id = msgspec.field(name="_id")


_QUERY = msgspec.json.Decoder(Query)


class Beir(Format):
    """A BEIR folder."""

    name = "beir"
    title = "a BEIR folder"
    outputs = (
        Output(
            "beir",
            "a BEIR folder",
            TRUTH_BY_ID | {"quotes", "targets_without_id", "query_texts", "texts"},
            is_folder=True,
            can_be_packed=False,
        ),
    )

    def detect(self, sight: Probe) -> bool:
        """A folder with judgements in ``qrels``."""
        return sight.folder is not None and (sight.folder / QRELS).is_dir()

    def read(self, sight: Probe, role: Role, watch: bool) -> Dataset:
        """The judgements of the one split, with the texts of their queries."""
        del role, watch
        folder = sight.source.path
        if not self.detect(sight):
            raise InvalidInput(
                f"{folder} cannot be read as a BEIR folder: it is not a folder with judgements in "
                f"{QRELS}."
            )
        splits = sorted(
            path for path in (folder / QRELS).iterdir() if path.name.endswith((".tsv", ".tsv.gz"))
        )
        if not splits:
            raise UnreadableFile(
                f"The BEIR folder {folder} has no judgements: no .tsv file in {folder / QRELS}; "
                "add one, such as test.tsv."
            )
        if len(splits) > 1:
            names = ", ".join(path.name.split(".")[0] for path in splits)
            raise InvalidInput(
                f"The BEIR folder {folder} holds several splits: {names}; name the one you mean, "
                f"such as {splits[0]}."
            )
        return _judgements(Probe(Source(splits[0], sight.source.progress)), "ground_truth")

    def write(self, output: Output, parts: Parts, path: Path, remarks: Remarks) -> list[Path]:
        """Write the three files query by query; the text of each item is written once."""
        del output  # there is one
        files = [path / "queries.jsonl", path / "corpus.jsonl", path / "qrels" / f"{SPLIT}.tsv"]
        try:
            files[2].parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteFailed(
                f"The folder {path} cannot be made: {error.strerror or error}; name another."
            ) from error
        known: set[str] = set()
        bare: set[str] = set()
        with (
            _empty_folders_gone(files[2].parent, path),
            whole_file(files[0]) as queries,
            whole_file(files[1]) as corpus,
            whole_file(files[2]) as qrels,
        ):
            qrels.write(b"query-id\tcorpus-id\tscore\n")
            for part in parts:
                for entry in entries(part):
                    queries.write(_line({"_id": entry.query, "text": entry.text or entry.query}))
                    for item, text in _texts_of(entry):
                        if text and item not in known:
                            known.add(item)
                            corpus.write(_line({"_id": item, "title": "", "text": text}))
                    for item, row in _judged(entry, remarks):
                        bare.add(item)
                        qrels.write(_cells(entry.query, item, plain_number(row["grade"])))
                        remarks.add(
                            "Grades that are not whole, which BEIR's own loader does not take: "
                            "{n}.",
                            int(not row["grade"].is_integer()),
                        )
        remarks.add(
            "Items whose text is not known, absent from corpus.jsonl: {n}.", len(bare - known)
        )
        return files


@contextmanager
def _empty_folders_gone(*folders: Path) -> Iterator[None]:
    """After an error, remove folders that were created and stayed empty."""
    try:
        yield
    except BaseException:
        for folder in folders:
            with suppress(OSError):
                folder.rmdir()
        raise


class BeirJudgements(Format):
    """The judgements of one split."""

    name = "beir_qrels"
    title = "BEIR judgements"

    def detect(self, sight: Probe) -> bool:
        """A table of query-id, corpus-id and score."""
        table = None if sight.folder else sight.table
        return table is not None and table.columns >= BEIR_JUDGEMENTS

    def read(self, sight: Probe, role: Role, watch: bool) -> Dataset:
        """Read judgements, with the texts of the queries if the BEIR folder is around them."""
        del watch
        return _judgements(sight, role)


def _judgements(sight: Probe, role: Role) -> Dataset:
    if sight.table is None:
        raise InvalidInput(
            f"{sight.name} cannot be read as BEIR judgements: it has no header of query-id, "
            "corpus-id and score."
        )
    found = read_long(sight.table, role)
    if found.ground_truth is None:
        return found
    truth = found.ground_truth
    texts = _texts(sight.source.path, truth.queries["query"])
    if texts is not None:
        queries = truth.queries.select("query").join(
            texts, on="query", how="left", maintain_order="left"
        )
        truth = replace(truth, queries=queries, notes=())
    return Dataset(truth, kind="BEIR judgements")


def _texts(qrels: Path, wanted: pl.Series) -> pl.DataFrame | None:
    """The texts of the wanted queries, from ``queries.jsonl`` in the folder above."""
    folder = qrels.resolve().parent
    files = (folder.parent / name for name in (QUERIES, f"{QUERIES}.gz"))
    path = next((file for file in files if file.is_file()), None)
    if folder.name != QRELS or path is None:
        return None
    ids, texts = set(wanted.to_list()), dict[str, str]()
    source = Source(path)
    for number, line in source.lines():
        if not line.strip():
            continue
        try:
            one = _QUERY.decode(line)
        except msgspec.ValidationError as error:
            place, example = f"{source.name}:{number} $", '{"_id": …, "text": …}'
            raise InvalidInput(explain_mismatch(str(error), place, example)) from None
        except BROKEN:
            raise UnreadableFile(f"The JSON in {source.name}:{number} is not valid.") from None
        if str(one.id) in ids:
            texts.setdefault(str(one.id), one.text)
    schema = {"query": pl.String, "text": pl.String}
    return pl.DataFrame([*texts.items()], schema=schema, orient="row")


def _judged(entry: Entry, remarks: Remarks) -> Iterable[tuple[str, dict[str, Any]]]:
    for row in entry.targets or ():
        if "item" in row:
            yield row["item"], row
        elif "quote" in row:
            remarks.add(MADE_IDS)
            yield id_of(row["quote"]), row


def _texts_of(entry: Entry) -> Iterable[tuple[str, str]]:
    for row in entry.targets or ():
        if "quote" in row:
            yield row.get("item") or id_of(row["quote"]), row["quote"]
    for row in entry.results or ():
        if "item" in row and "text" in row:
            yield row["item"], row["text"]


def _line(value: dict[str, Any]) -> bytes:
    return msgspec.json.encode(value) + b"\n"


def _cells(*values: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerow(values)
    return text.getvalue().encode()
