"""Every form Calipers reads, tried in order on a file's content."""

from collections.abc import Callable
from dataclasses import dataclass

from calipers.errors import UnreadableFile
from calipers.io import json_files, tables, trec
from calipers.io.source import Source
from calipers.model.dataset import Dataset, Role


@dataclass(frozen=True)
class Format:
    """One form: how it is recognised and how it is read."""

    name: str
    detect: Callable[[Source], bool]
    read: Callable[[Source, Role], Dataset]


FORMATS: tuple[Format, ...] = (
    Format("Parquet", tables.detect_parquet, tables.read_parquet),
    Format("Arrow", tables.detect_arrow, tables.read_arrow),
    Format("JSON list", json_files.detect_list, lambda source, _: json_files.read_list(source)),
    Format("JSON lines", json_files.detect_lines, lambda source, _: json_files.read_lines(source)),
    Format("JSON mapping", json_files.detect_mapping, json_files.read_mapping),
    Format("CSV or TSV", tables.detect_delimited, tables.read_delimited),
    Format("TREC run", trec.detect_run, lambda source, _: trec.read_run(source)),
    Format(
        "TREC judgements", trec.detect_judgements, lambda source, _: trec.read_judgements(source)
    ),
)
BINARY = ("Parquet", "Arrow")


def read_source(source: Source, role: Role) -> Dataset:
    """What a file holds, in whatever known form it is."""
    for form in FORMATS:
        if form.name not in BINARY:
            source.check_has_content()
        if form.detect(source):
            return form.read(source, role)
    first = source.head.split(b"\n")[0][:80].decode(errors="replace")
    raise UnreadableFile(
        f"The form of {source.name} is not known; its first line is {first!r}. Calipers reads "
        f"{', '.join(form.name for form in FORMATS)}."
    )
