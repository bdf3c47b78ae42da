"""BEIR: a folder of queries, corpus and judgements, or the judgements alone."""

from dataclasses import replace
from pathlib import Path

import msgspec
import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.format import Format
from calipers.io.formats.table import read_long
from calipers.io.records.json_files import BROKEN, explain_mismatch
from calipers.io.records.schema import Id
from calipers.model.matched import Dataset, Role
from calipers.names import BEIR_JUDGEMENTS

QUERIES = "queries.jsonl"
QRELS = "qrels"


class Query(msgspec.Struct):
    """One line of ``queries.jsonl``."""

    text: str
    id: Id = msgspec.field(name="_id")


_QUERY = msgspec.json.Decoder(Query)


class Beir(Format):
    """A BEIR folder."""

    name = "beir"
    title = "a BEIR folder"

    def detect(self, probe: Probe) -> bool:
        """A folder with judgements in ``qrels``."""
        return probe.folder is not None and (probe.folder / QRELS).is_dir()

    def read(self, probe: Probe, role: Role) -> Dataset:
        """The judgements of the one split, with the texts of their queries."""
        del role
        folder = probe.source.path
        if not self.detect(probe):
            raise InvalidInput(
                f"{folder} cannot be read as a BEIR folder: it is not a folder with judgements in "
                f"{QRELS}."
            )
        splits = sorted(
            path
            for path in (folder / QRELS).iterdir()
            if path.name.endswith((".tsv", ".tsv.gz"))
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
        return _judgements(Probe(Source(splits[0])), "ground_truth")


class BeirJudgements(Format):
    """The judgements of one split."""

    name = "beir_qrels"
    title = "BEIR judgements"

    def detect(self, probe: Probe) -> bool:
        """A table of query-id, corpus-id and score."""
        table = None if probe.folder else probe.table
        return table is not None and table.columns >= BEIR_JUDGEMENTS

    def read(self, probe: Probe, role: Role) -> Dataset:
        """Read judgements, with the texts of the queries if the BEIR folder is around them."""
        return _judgements(probe, role)


def _judgements(probe: Probe, role: Role) -> Dataset:
    if probe.table is None:
        raise InvalidInput(
            f"{probe.name} cannot be read as BEIR judgements: it has no header of query-id, "
            "corpus-id and score."
        )
    dataset = read_long(probe.table, role)
    if dataset.ground_truth is None:
        return dataset
    truth = dataset.ground_truth
    texts = _texts(probe.source.path, truth.queries["query"])
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
    ids = set(wanted.to_list())
    texts = dict[str, str]()
    source = Source(path)
    for number, line in source.lines():
        if not line.strip():
            continue
        try:
            stored_result = _QUERY.decode(line)
        except msgspec.ValidationError as error:
            place = f"{source.name}:{number} $"
            example = '{"_id": …, "text": …}'
            raise InvalidInput(explain_mismatch(str(error), place, example)) from None
        except BROKEN:
            raise UnreadableFile(
                f"The JSON in {source.name}:{number} is not valid."
            ) from None
        if str(stored_result.id) in ids:
            texts.setdefault(str(stored_result.id), stored_result.text)
    schema = {"query": pl.String, "text": pl.String}
    return pl.DataFrame([*texts.items()], schema=schema, orient="row")
