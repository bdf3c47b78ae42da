"""Every form Calipers reads, recognised by content; a file that could be two is not guessed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io import beir, json_files, mappings, marco, tables, trec
from calipers.io.formats import ROWS, WHOLES
from calipers.io.formats.ours import FORM as OURS
from calipers.io.rows import RowFormat, stream_json
from calipers.io.sight import Sight
from calipers.io.source import Source
from calipers.io.stream import RecordStream
from calipers.io.wholes import WholeFormat, stream_whole
from calipers.model.dataset import Dataset, Role
from calipers.suggest import did_you_mean

Opened = Dataset | RecordStream
"""What a file brought: everything, or records that are still to pass."""


@dataclass(frozen=True)
class Format:
    """One form: how it is recognised and how it is read."""

    name: str
    title: str
    """What a file in this form is, in words."""
    claims: Callable[[Sight], bool]
    read: Callable[[Sight, Role, bool], Opened]
    """Read a file taken for a role; the last argument asks to count what is not carried over."""
    only: Role | None = None
    """The part it holds, where a second form looks the same and holds the other part."""
    fallback: bool = False
    """Whether it is tried only when no other form claims the file."""


def _row_format(form: RowFormat) -> Format:
    def claims(sight: Sight) -> bool:
        return any(form.recognise(keys) for keys in sight.row_keys.values())

    return Format(form.name, form.title, claims, partial(_read_rows, form))


def _read_rows(form: RowFormat, sight: Sight, _: Role, watch: bool) -> Opened:
    if sight.table is not None:
        return tables.stream_table(sight.table, form, watch)
    if sight.look is None:
        raise _wrong_form(sight, form.title)
    owner = next((key for key, keys in sight.row_keys.items() if form.recognise(keys)), None)
    raw = json_files.raw_records(sight.source, sight.look, owner)
    return stream_json(form, sight.source, raw, watch)


def _whole_format(form: WholeFormat) -> Format:
    def claims(sight: Sight) -> bool:
        look = sight.look
        return look is not None and look.shape == "object" and form.recognise(look.first)

    def read(sight: Sight, _: Role, watch: bool) -> Opened:
        if sight.look is None or sight.look.shape != "object":
            raise _wrong_form(sight, form.title)
        return stream_whole(form, sight.source.read(), sight.name, watch)

    return Format(form.name, form.title, claims, read, form.only)


def _read_table(sight: Sight, role: Role, _: bool) -> Opened:
    if sight.table is None:
        raise _wrong_form(sight, "a table")
    return tables.read_long(sight.table, role)


def _read_mapping(sight: Sight, role: Role, _: bool) -> Opened:
    if sight.look is None or sight.look.shape != "object":
        raise _wrong_form(sight, "a mapping of query to items")
    value = json_files.decoded(sight.source.read(), sight.source)
    return mappings.read(value, role, sight.name)


def _is_lines(sight: Sight) -> bool:
    """Lines of text that are not a table with a header."""
    has_header = sight.table is not None and tables.is_long(sight.table.columns)
    return sight.is_text and not has_header


def _is_plain_records(sight: Sight) -> bool:
    """Records of our form with neither results nor ground truth, or of no known form."""
    look = sight.look
    return look is not None and (look.shape != "object" or "query" in look.keys)


FORMATS: tuple[Format, ...] = (
    *map(_row_format, ROWS),
    *map(_whole_format, WHOLES),
    Format("beir", "a BEIR folder", beir.is_folder, lambda s, *_: beir.read_folder(s)),
    Format("beir_qrels", "BEIR judgements", beir.is_qrels, beir.read_qrels),
    Format(
        "trec_run", "a TREC run",
        lambda s: _is_lines(s) and trec.detect_run(s.source), lambda s, *_: trec.read_run(s.source),
    ),
    Format(
        "trec_judgements", "TREC judgements",
        lambda s: _is_lines(s) and trec.detect_judgements(s.source),
        lambda s, *_: trec.read_judgements(s.source),
    ),
    Format(
        "msmarco_run", "an MS MARCO run (query, item, rank)",
        lambda s: _is_lines(s) and marco.could_be_run(s), lambda s, *_: marco.read_run(s.source),
        only="run",
    ),
    Format(
        "three_columns", "judgements (query, item, grade)",
        lambda s: _is_lines(s) and marco.could_be_judgements(s),
        lambda s, *_: marco.read_judgements(s.source), only="ground_truth",
    ),
    Format(
        "table", "a table of query, item, and score, rank or grade",
        lambda s: s.table is not None and tables.is_long(s.table.columns), _read_table,
        fallback=True,
    ),
    Format("records", OURS.title, _is_plain_records, partial(_read_rows, OURS), fallback=True),
    Format(
        "mapping", "a mapping of query to items",
        lambda s: s.look is not None and s.look.shape == "object", _read_mapping, fallback=True,
    ),
)  # fmt: skip
BY_NAME = {form.name: form for form in FORMATS}


def read_source(source: Source, role: Role) -> Dataset:
    """What a file or folder holds, in whatever known form it is."""
    sight = Sight(source)
    opened = recognise(sight, role).read(sight, role, False)
    return opened if isinstance(opened, Dataset) else opened.dataset()


def recognise(sight: Sight, role: Role) -> Format:
    """The one form that claims the file; none or two is an error."""
    sight.check()
    claimed = [form for form in FORMATS if not form.fallback and form.claims(sight)]
    if len(claimed) > 1 and role != "both":
        claimed = [form for form in claimed if form.only in (None, role)] or claimed
    if len(claimed) > 1:
        raise InvalidInput(_two_forms(sight, claimed))
    if claimed:
        return claimed[0]
    found = next((form for form in FORMATS if form.fallback and form.claims(sight)), None)
    if found is None:
        raise UnreadableFile(_unknown(sight))
    return found


def named(name: str) -> Format:
    """The form of that name.

    >>> named("ragas").title
    'ragas samples'
    """
    if name not in BY_NAME:
        raise InvalidInput(
            f"There is no form {name!r} to read; the forms are {', '.join(BY_NAME)}."
            f"{did_you_mean(name, BY_NAME)}"
        )
    return BY_NAME[name]


def _two_forms(sight: Sight, claimed: list[Format]) -> str:
    names = " or ".join(f"{form.title} ({form.name})" for form in claimed)
    if {form.only for form in claimed} == {"run", "ground_truth"}:
        what = "say which it is with --run or --ground-truth (run= or ground_truth= in Python)"
    else:
        what = "take out the fields of one of them, or convert it first with --from"
    return f"The form of {sight.name} could be two: {names}; {what}."


def _unknown(sight: Sight) -> str:
    known = ", ".join(form.name for form in FORMATS)
    if sight.folder:
        inside = sorted(path.name for path in sight.folder.iterdir())[:5]
        return (
            f"The folder {sight.name} is in no known form; it holds "
            f"{', '.join(inside) or 'nothing'}. Calipers reads a BEIR folder (queries.jsonl and "
            "qrels), a dataset saved to disk (state.json), and AutoRAG's (qa.parquet); or name a "
            "file in it."
        )
    if sight.table is not None:
        found = f"its columns are {', '.join(sorted(sight.table.columns))[:200]}"
    else:
        first = sight.source.head.split(b"\n")[0][:80].decode(errors="replace")
        found = f"its first line is {first!r}"
    return f"The form of {sight.name} is not known; {found}. Calipers reads {known}."


def _wrong_form(sight: Sight, title: str) -> InvalidInput:
    return InvalidInput(f"{sight.name} cannot be read as {title}: it is not of that shape.")
