"""Every form Calipers writes, chosen by name or by the ending of the path."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from calipers.errors import InvalidInput
from calipers.io.writers import beir, llama_index, ours, ragas, table, trec
from calipers.io.writers.facets import EVERYTHING
from calipers.io.writers.files import ending
from calipers.io.writers.remarks import Remarks
from calipers.model.dataset import Dataset
from calipers.suggest import did_you_mean

Write = Callable[[Iterable[Dataset], Path, Remarks], list[Path]]

TRUTH_BY_ID = frozenset({"targets", "grades", "not_relevant", "query_ids"})
RESULTS_BY_ID = frozenset({"results", "scores", "query_ids"})
PLAIN_TARGETS = frozenset(
    {
        "targets", "groups", "grades", "not_relevant", "quotes", "spans", "spans_alone",
        "targets_without_id",
    }
)  # fmt: skip
PLAIN_RESULTS = frozenset(
    {"results", "scores", "texts", "result_documents", "tokens", "results_without_id"}
)


@dataclass(frozen=True)
class Writer:
    """One form to write: what it can hold, and how it is written."""

    name: str
    title: str
    holds: frozenset[str]
    """The facets (see ``facets.FACETS``) that survive."""
    write: Write
    endings: tuple[str, ...] = ()
    """The endings of a path that mean this form without being told."""
    is_folder: bool = False


def _table(name: str, title: str, suffix: str) -> Writer:
    return Writer(name, title, EVERYTHING, partial(table.write, nested=True), (suffix,))


WRITERS: tuple[Writer, ...] = (
    Writer("jsonl", "our JSON lines", EVERYTHING, ours.write_lines, (".jsonl", ".ndjson")),
    Writer("json", "our JSON list", EVERYTHING, ours.write_list, (".json",)),
    Writer("trec", "TREC files", TRUTH_BY_ID | RESULTS_BY_ID, trec.write_both, (".trec",)),
    Writer("qrels", "TREC judgements", TRUTH_BY_ID, trec.write_judgements, (".qrels",)),
    Writer("run", "a TREC run", RESULTS_BY_ID, trec.write_run, (".run",)),
    Writer(
        "beir", "a BEIR folder",
        TRUTH_BY_ID | {"quotes", "targets_without_id", "query_texts", "texts"},
        beir.write, is_folder=True,
    ),
    Writer(
        "ragas", "ragas samples",
        frozenset(
            {
                "targets", "quotes", "targets_without_id", "query_texts", "texts", "results",
                "results_without_id", "queries_without_targets", "queries_without_results",
            }
        ),
        ragas.write,
    ),
    Writer(
        "llama_index", "a LlamaIndex question set",
        frozenset(
            {
                "targets", "quotes", "targets_without_id", "query_ids", "query_texts", "texts",
                "queries_without_targets", "queries_without_results",
            }
        ),
        llama_index.write,
    ),
    _table("csv", "a CSV table", ".csv"),
    _table("tsv", "a TSV table", ".tsv"),
    _table("parquet", "a Parquet table", ".parquet"),
    _table("arrow", "an Arrow table", ".arrow"),
)  # fmt: skip
BY_NAME = {writer.name: writer for writer in WRITERS}
TABLES = ("csv", "tsv", "parquet", "arrow")
NOT_PACKED = ("parquet", "arrow", "beir")


def choose(path: Path, name: str | None) -> Writer:
    """The form to write: as named, or as the ending of the path says.

    >>> choose(Path("out.jsonl"), None).name, choose(Path("out.json"), "ragas").name
    ('jsonl', 'ragas')
    """
    if name == "ours":
        name = "json" if ending(path) == ".json" else "jsonl"
    if name is not None:
        if name not in BY_NAME:
            raise InvalidInput(
                f"There is no form {name!r} to write; it can be ours, {', '.join(BY_NAME)}."
                f"{did_you_mean(name, BY_NAME)}"
            )
        chosen = BY_NAME[name]
    else:
        suffix = ending(path)
        found = next((one for one in WRITERS if suffix in one.endings), None)
        if found is None and (path.is_dir() or not suffix):
            found = BY_NAME["beir"] if path.is_dir() else None
        if found is None:
            raise InvalidInput(
                f"The ending of {path} does not say in which form to write: found "
                f"{suffix or 'none'}; use one of "
                f"{', '.join(e for one in WRITERS for e in one.endings)}, or name the form with "
                f"--to ({', '.join(BY_NAME)})."
            )
        chosen = found
    if chosen.name in NOT_PACKED and path.suffix.lower() == ".gz":
        raise InvalidInput(
            f"The output {path} cannot be packed: {chosen.title} is not written with gzip; take "
            "the .gz away."
        )
    return chosen


def in_long_form(writer: Writer, part: str) -> Writer:
    """The same table with one row per item, for a dataset that is a ground truth or a run only."""
    held = PLAIN_TARGETS | {"query_ids", "query_texts"} if part == "ground_truth" else PLAIN_RESULTS
    return Writer(
        writer.name, writer.title, held, partial(table.write, nested=False), writer.endings
    )
