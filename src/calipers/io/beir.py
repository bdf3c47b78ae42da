"""BEIR: a folder of queries, corpus and judgements; the judgements also by themselves."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.mismatch import explain_mismatch
from calipers.io.records import Id
from calipers.io.sight import Sight
from calipers.io.source import Source
from calipers.io.tables import BEIR_QRELS, read_long
from calipers.model.dataset import Dataset, Role
from calipers.model.ground_truth import GroundTruth

QUERIES = "queries.jsonl"
QRELS = "qrels"


class Query(msgspec.Struct):
    """One line of ``queries.jsonl``."""

    text: str
    id: Id = msgspec.field(name="_id")


_QUERY = msgspec.json.Decoder(Query)


def is_folder(sight: Sight) -> bool:
    """A folder with judgements in ``qrels``."""
    return sight.folder is not None and (sight.folder / QRELS).is_dir()


def is_qrels(sight: Sight) -> bool:
    """A table of query-id, corpus-id and score."""
    return not sight.folder and sight.table is not None and sight.table.columns >= BEIR_QRELS


def read_folder(sight: Sight) -> Dataset:
    """The judgements of the one split, with the texts of their queries."""
    folder = sight.source.path
    if not is_folder(sight):
        raise InvalidInput(
            f"{folder} cannot be read as a BEIR folder: it is not a folder with judgements in "
            f"{QRELS}."
        )
    splits = sorted(
        path for path in (folder / QRELS).iterdir() if path.name.endswith((".tsv", ".tsv.gz"))
    )
    if not splits:
        raise UnreadableFile(
            f"The BEIR folder {folder} has no judgements: no .tsv file in {folder / QRELS}; add "
            "one, such as test.tsv."
        )
    if len(splits) > 1:
        names = ", ".join(path.name.split(".")[0] for path in splits)
        raise InvalidInput(
            f"The BEIR folder {folder} holds several splits: {names}; name the one you mean, such "
            f"as {splits[0]}."
        )
    return read_qrels(Sight(Source(splits[0], sight.source.progress)), "ground_truth", False)


def read_qrels(sight: Sight, role: Role, _: bool) -> Dataset:
    """Judgements; where the folder of queries is around them, with the texts of the queries."""
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
        truth = GroundTruth(truth.targets, queries, truth.tags, truth.repeated)
    return Dataset(truth, kind="BEIR judgements")


def _texts(qrels: Path, wanted: pl.Series) -> pl.DataFrame | None:
    """The texts of the wanted queries, from ``queries.jsonl`` in the folder above."""
    path = next(
        (
            file
            for name in (QUERIES, f"{QUERIES}.gz")
            if (file := qrels.resolve().parent.parent / name).is_file()
        ),
        None,
    )
    if qrels.resolve().parent.name != QRELS or path is None:
        return None
    ids = set(wanted.to_list())
    rows = [(str(one.id), one.text) for one in _queries(Source(path)) if str(one.id) in ids]
    return pl.DataFrame(rows, schema={"query": pl.String, "text": pl.String}, orient="row").unique(
        "query", keep="first"
    )


def _queries(source: Source) -> Iterator[Query]:
    for number, line in source.lines():
        if not line.strip():
            continue
        try:
            yield _QUERY.decode(line)
        except msgspec.ValidationError as error:
            place = f"{source.name}:{number} $"
            example = '{"_id": …, "text": …}'
            raise InvalidInput(explain_mismatch(str(error), place, example)) from None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise UnreadableFile(
                f"The JSON in {source.name}:{number} is not valid; check the line, or write it "
                "again."
            ) from None
