"""All known formatats, recognised by content; a file that fits two is refused.

Formats of other packages are entry points in the group ``calipers.formats``, each naming a class
like those in the folder ``formats``. They are tried if no built-in one recognises the file.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from inspect import isabstract
from pathlib import Path
from pkgutil import iter_modules

import calipers.plugins as plugins
from calipers.errors import CalipersError, InvalidInput, Unclear, UnreadableFile
from calipers.io.build import MemoryBudget
from calipers.io.files.open import Source
from calipers.io.files.probe import UTF_16, Probe
from calipers.io.files.write import PACKED, ending, is_stream
from calipers.io.format import Format, Writer
from calipers.io.formats.ours import Ours, is_ours_alone
from calipers.io.tables.columns import IGNORE, Columns, Pairs, say
from calipers.io.tables.scan import InputTable
from calipers.io.tables.usual_names import numbered_groups, renaming
from calipers.model.matched import Dataset, Role
from calipers.names import NEIGHBOUR, REVIEWED
from calipers.words import did_you_mean


@cache
def built_in() -> tuple[Format, ...]:
    """The formats in the folder ``formats``, fallbacks last.

    They are imported for the first file that is not plainly ours. Adding a module there is all that
    a new format needs.
    """
    import calipers.io.formats as home

    names = sorted(iter_module.name for iter_module in iter_modules(home.__path__))
    modules = [import_module(f"{home.__name__}.{name}") for name in names]
    file_formats = [
        file_format
        for module in modules
        for file_format in getattr(module, "FORMATS", ())
    ]
    file_formats += [
        file_format()
        for module in modules
        for file_format in vars(module).values()
        if isinstance(file_format, type)
        and issubclass(file_format, Format)
        and not isabstract(file_format)
        if file_format.__module__ == module.__name__
        and isinstance(getattr(file_format, "name", None), str)
    ]
    return tuple(sorted(file_formats, key=lambda file_format: file_format.fallback))


@cache
def plugged() -> tuple[Format, ...]:
    """The formats of other packages, without those that clash with a name or are invalid."""
    found = {file_format.name: file_format for file_format in built_in()}
    for entry, given in plugins.found(plugins.FORMATS).items():
        try:
            file_format = (
                given() if isinstance(given, type) and issubclass(given, Format) else None
            )
            name = "" if file_format is None else file_format.name
        except Exception as error:  # noqa: BLE001 - another's class may raise anything
            plugins.warn(
                plugins.FORMATS, entry, f"it raises {type(error).__name__}: {error}"
            )
            continue
        if file_format is None:
            why = "it is no class of calipers.io.format.Format"
            plugins.warn(plugins.FORMATS, entry, why)
        elif name in found:
            plugins.warn(
                plugins.FORMATS, entry, f"there is already a format called {name!r}"
            )
        else:
            found[name] = file_format
    return tuple(found.values())[len(built_in()) :]


def formats() -> tuple[Format, ...]:
    """All formats, those of other packages last."""
    return (*built_in(), *plugged())


def read_source(
    source: Source, role: Role, columns: Columns, room: MemoryBudget | None = None
) -> Dataset:
    """Read a file or folder in any known formatat."""
    return read_probe(Probe(source, columns, room=room), role)


def read_probe(probe: Probe, role: Role) -> Dataset:
    """Read a file, a folder or a value in memory; what is unclear is refused with tried lines."""
    try:
        found = _read(probe, role)
    except Unclear as unclear:
        if probe.trial:
            raise
        from calipers.io.tables.propose import settled

        raise settled(unclear, probe, role, read_probe) from None
    if probe.trial or (found.unclear is None and not _lacks_a_part(found, probe, role)):
        return found
    from calipers.io.tables.propose import with_proposal

    asking = found.unclear or Unclear("", *_parts_of_table(found, probe, role))
    return with_proposal(found, asking, probe, role, read_probe)


def _lacks_a_part(found: Dataset, probe: Probe, role: Role) -> bool:
    """Whether records lack a part, which may stand in them under another name.

    A table of our own names asks by itself; one of a tool has neither part where it lacks one.
    """
    if probe.look is None and probe.table is None:
        return False
    has = {"ground_truth": found.ground_truth, "run": found.run}
    lacking = [part for part in (has if role == "both" else (role,)) if has[part] is None]
    return bool(lacking) and (probe.table is None or not any(has.values()))


def _parts_of_table(found: Dataset, probe: Probe, role: Role) -> tuple[Pairs, ...]:
    """The mappings that may give the parts that a table, or flat records, of a tool lack."""
    if found.ground_truth is not None or found.run is not None:
        return ()
    from calipers.io.tables.candidates import missing_part, profiles_of_records
    from calipers.io.tables.profile import profiles_of

    if probe.table is not None:
        names = renaming(probe.table.names())
        asked = next((theirs for theirs, ours in names.items() if ours == "query"), None)
        profiles = profiles_of(probe.table, asked)
    else:
        head = probe.head()
        rows = head.given if head is not None and isinstance(head.given, list) else []
        records = [row for row in rows if isinstance(row, Mapping)]
        held = {type(value) for row in records for value in row.values()}
        if not records or held & {list, dict}:
            return ()
        profiles = profiles_of_records(records)
    return missing_part(profiles, role, has_truth=False, has_results=False)


def _read(probe: Probe, role: Role) -> Dataset:
    """Read a file, a folder or a value in its format."""
    if _may_be_unfolded(probe):
        from calipers.io.formats.exports import unfolded

        probe = unfolded(probe)
    file_format = recognise(probe, role)
    if file_format.name == "mapping":
        from calipers.io.formats.exports import with_nested_records

        inner = with_nested_records(probe)
        if inner is not probe:
            probe = inner
            file_format = recognise(probe, role)
    if (
        role != "ground_truth"
        and file_format.name in _BY_NAMES
        and not is_ours_alone(probe)
    ):
        from calipers.io.records.rankings import check_one_ranking

        check_one_ranking(probe)
    return file_format.read(probe, role)


def _may_be_unfolded(probe: Probe) -> bool:
    """Whether a file may be a table in another shape than a list of records, by its keys."""
    if probe.look is not None and (probe.look.shape == "object" or probe.holds_lists):
        return True
    if probe.look is None and probe.is_text:
        return False
    return any(
        keys >= mark
        for keys in probe.row_keys.values()
        for mark in (NEIGHBOUR, *REVIEWED)
    )


_BY_NAMES = frozenset({"ours", "records", "table", "export"})
"""The formats whose fields are found by their names, which two fields may have."""


def recognise(probe: Probe, role: Role) -> Format:
    """The one format that recognises the file; none or two is an error."""
    probe.check()
    if probe.look is not None and {"schema", "calipers"} <= probe.look.first.keys():
        raise InvalidInput(
            f"{probe.name} holds scores that Calipers printed as JSON. Give it to compare or "
            "gate; here, give the run or the ground truth that it was measured from."
        )
    if _is_nested_squad(probe):
        raise InvalidInput(
            f"{probe.name} is SQuAD as it is published: paragraphs with questions inside. Write a "
            "row for each question, with the columns question and quote (the answer or paragraph)."
        )
    _refuse_without_questions(probe)
    # Importing all formats takes about 18 ms, which a small evaluation can save.
    if is_ours_alone(probe):
        return Ours()
    named = probe.columns_said.named
    if role == "both" and probe.look and {"retrieved", "ground_truth"} <= named.keys():
        return Ours()  # the user says both parts, whatever tool has such fields
    if probe.look is None and not probe.columns_said.named:
        from calipers.io.formats.trec import plain_format

        if (plain := plain_format(probe)) is not None:
            return plain
    claimed = [
        file_format
        for file_format in built_in()
        if not file_format.fallback and file_format.detect(probe)
    ]
    may_be_export = claimed or not probe.is_text or _asks_in_cells(probe)
    if may_be_export and all(file_format.yields(probe) for file_format in claimed):
        from calipers.io.formats.exports import Exports, find_export

        if find_export(probe, role, whole=bool(claimed)) is not None:
            return Exports()
    claimed = [own for own in claimed if not own.is_of_others(probe)] or _of_others(probe)
    if len(claimed) > 1 and role != "both":
        claimed = [
            file_format for file_format in claimed if file_format.only in (None, role)
        ] or claimed
    if len(claimed) > 1:
        if {file_format.only for file_format in claimed} == {"run", "ground_truth"}:
            what = "say which it is with --run or --ground-truth (run= or ground_truth= in Python)"
        else:
            what = "take out the fields of one of them, or convert it first with --from"
        raise two_formats(claimed, probe.name, what)
    if claimed:
        return claimed[0]

    wrong = UnreadableFile if probe.given is None else InvalidInput
    other = what_it_is(probe) if not probe.columns_said.named else None
    if other is not None:
        raise wrong(f"{probe.name} {other}.")
    pool_items = next(
        (
            file_format
            for file_format in built_in()
            if file_format.fallback and file_format.detect(probe)
        ),
        None,
    )
    if pool_items is None:
        raise _unknown(probe, role)
    return pool_items


def _asks_in_cells(probe: Probe) -> bool:
    """Whether a table has objects in its cells, and no column that is called a question."""
    if probe.given is not None or b'{"' not in probe.source.head or probe.table is None:
        return False
    return "query" not in renaming(probe.table.names()).values()


def _refuse_without_questions(probe: Probe) -> None:
    """Refuse answers of a search engine that do not say what was asked."""
    if probe.look is None:
        return
    answers = {"hits", "responses"}
    in_rows = any(keys & answers for keys in probe.row_keys.values())
    if not in_rows and "ids" not in probe.look.keys:
        return
    from calipers.io.records.bare_answers import without_questions

    if (what := without_questions(probe)) is not None:
        raise InvalidInput(f"{probe.name} {what}.")


def _is_nested_squad(probe: Probe) -> bool:
    """Whether it is a file of SQuAD: ``{"data": [{"paragraphs": [{"qas": …}]}]}``."""
    if probe.given is not None or probe.look is None or "data" not in probe.look.keys:
        return False
    head = probe.source.head
    return b'"paragraphs"' in head and b'"qas"' in head


def _of_others(probe: Probe) -> list[Format]:
    """The formats of other packages that recognise the file; one that fails is skipped."""
    claimed = []
    for file_format in plugged():
        try:
            if file_format.detect(probe):
                claimed.append(file_format)
        except CalipersError:  # about the file, as it cannot be opened
            raise
        except Exception as error:  # noqa: BLE001 - another's class may raise anything
            plugins.warn(
                plugins.FORMATS,
                file_format.name,
                f"it raises {type(error).__name__}: {error}",
            )
    return claimed


def named(name: str) -> Format:
    """The format of that name.

    >>> named("ragas").title
    'ragas samples'
    """
    every = (
        file_format
        for file_formats in (built_in, plugged)
        for file_format in file_formats()
    )
    pool_items = next(
        (file_format for file_format in every if file_format.name == name), None
    )
    if pool_items is None:
        known = [file_format.name for file_format in formats()]
        raise InvalidInput(
            f"There is no format {name!r} to read; the formats are {', '.join(known)}."
            f"{did_you_mean(name, known)}"
        )
    return pool_items


def writers(file_formats: tuple[Format, ...]) -> Mapping[str, Writer]:
    """The writers by name."""
    return {
        output.name: Writer(file_format, output)
        for file_format in file_formats
        for output in file_format.outputs
    }


def choose(path: Path, name: str | None) -> Writer:
    """The format to write: by name, or by the extension of the path.

    >>> choose(Path("out.jsonl"), None).output.name, choose(Path("a.txt"), "qrels").output.name
    ('jsonl', 'qrels')
    """
    if name == "ours":
        name = "json" if ending(path) == ".json" else "jsonl"
    known = writers(built_in())
    chosen = _chosen(path, name, known)
    if chosen is None:
        known = {**writers(plugged()), **known}
        chosen = _chosen(path, name, known)
    if chosen is None:
        raise InvalidInput(_cannot_be_written(path, name, known))
    if not chosen.output.can_be_packed and path.suffix.lower() == PACKED:
        raise InvalidInput(
            f"The output {path} cannot be packed: {chosen.output.title} is not written with gzip; "
            "take the .gz away."
        )
    return chosen


def _chosen(path: Path, name: str | None, known: Mapping[str, Writer]) -> Writer | None:
    if name is not None:
        return known.get(name)
    suffix = ending(path) or (".jsonl" if is_stream(path) else "")
    return next((one for one in known.values() if suffix in one.output.endings), None)


def _cannot_be_written(path: Path, name: str | None, known: Mapping[str, Writer]) -> str:
    names = ", ".join(known)
    if name is not None:
        return (
            f"There is no format {name!r} to write; it can be ours, {names}."
            f"{did_you_mean(name, known)}"
        )
    endings = ", ".join(suffix for one in known.values() for suffix in one.output.endings)
    return (
        f"The ending of {path} does not say in which format to write: found "
        f"{ending(path) or 'none'}; use one of {endings}, or name the format with --to ({names})."
    )


def two_formats(claimed: Sequence[Format], name: str, advice: str) -> InvalidInput:
    """The error for input that several formats recognise."""
    names = " or ".join(
        f"{file_format.title} ({file_format.name})" for file_format in claimed
    )
    return InvalidInput(f"The format of {name} could be two: {names}; {advice}.")


def _no_query(table: InputTable, role: Role) -> InvalidInput:
    """The error for a table without a query column, or without a header."""
    numbers = numbered_groups(table.names()).get("", [])  # the results 1, 2, 3 …
    named = [name for name in table.names() if name not in numbers]
    value = next((name for name in named if _is_no_name(name, table)), None)
    twice = next(filter(None, map(_TWICE.fullmatch, table.names())), None)
    if twice is not None:
        raise InvalidInput(
            f"{table.name} has the column {twice[1]!r} twice, as two tables side by side have; "
            "give each table a file of its own, or each column a name of its own."
        )
    if value is None:
        from calipers.io.tables.resolve import no_column

        return no_column(table, "query", role)
    return UnreadableFile(
        f"{table.name} seems to be a table without a header: its first line holds {value!r}; put a "
        "line with the names of the columns first, such as query, item and grade."
    )


_TWICE = re.compile(r"(.*\w.*)_duplicated_\d+")
"""What the second of two columns with the same name is called."""


def _is_no_name(column: str, table: InputTable) -> bool:
    """Whether a column name is a number, a question or a sentence, and so a value."""
    if column.replace(".", "", 1).isdigit() or len(column.split()) > MOST_WORDS:
        return True
    # A question above judgements asks for them: "Relevant?"
    if not column.rstrip().endswith("?"):
        return False
    # Imported late: few columns are called by a question.
    from calipers.io.tables.profile import profiles_of

    return not profiles_of(table)[column].holds_grades


MOST_WORDS = 5
"""Words of a column's name; more are a sentence."""


def _unknown(probe: Probe, role: Role) -> InvalidInput:
    """The error for a file or value in no known format."""
    from calipers.io.tables.title import header_below

    wrong = UnreadableFile if probe.given is None else InvalidInput
    if probe.folder:
        inside = sorted(path.name for path in probe.folder.iterdir())[:5]
        return wrong(
            f"Name a file in {probe.name}: the folder is in no known format (it holds "
            f"{', '.join(inside)[:60] or 'nothing'}), such as BEIR's (qrels), a saved dataset "
            "(state.json) or AutoRAG's (qa.parquet)."
        )
    # Lines are looked at as text: rows below a title are of another width.
    is_lines = probe.is_text and is_readable(probe.source.head)
    head = probe.source.head if is_lines else b""
    below = header_below(None if head else probe.table, head, probe.name)
    if below is not None:
        return wrong(below)
    if probe.table is not None:
        return _no_query(probe.table, role)
    first = probe.source.head.split(b"\n")[0][:80].decode(errors="replace")
    return wrong(
        f"The format of {probe.name} is not known; its first line is {first!r:.50}. Give a table "
        "with a header such as query,item,grade, JSON lines, or TREC lines."
    )


_PROGRAM = re.compile(rb"^(?:async )?def (\w+)\(", re.MULTILINE)
_SCORE_COLUMNS = frozenset({"query", "text", "status", "retrieved", "targets"})


def is_readable(head: bytes) -> bool:
    """Whether the beginning of a file is text: few or no control characters.

    >>> is_readable(b"q1 0 d1 1"), is_readable(b"\\x01\\x02\\x03\\xfe")
    (True, False)
    """
    text = head.decode(errors="replace")
    odd = sum(not (one.isprintable() or one.isspace()) or one == "\ufffd" for one in text)
    return odd <= len(text) // 20


def what_it_is(probe: Probe) -> str | None:
    """What an unrecognised file is, and what to give instead; None if unclear."""
    columns = next(iter(probe.row_keys.values()), frozenset[str]())
    if columns >= _SCORE_COLUMNS:
        return (
            "holds scores that `calipers eval --per-query` wrote. Give the run or the ground truth "
            "that they come from, or, to compare, what `calipers eval --json` wrote"
        )
    if columns >= {"question", "context", "answers"}:
        return (
            "is SQuAD: questions with paragraphs and answers. Make a table of question and quote "
            f"(what to find), or say {say(('quote', 'context'), (IGNORE, 'answers'))}"
        )
    from calipers.io.tables.lines import is_lines

    head = probe.source.head if is_lines(probe) else b""
    if head and not (is_readable(head) or head.startswith(UTF_16) or probe.is_decoded):
        return (
            "is neither text nor a binary format that Calipers knows; it reads JSON, JSON lines, "
            "CSV, TSV, TREC text, Excel, Parquet and Arrow files"
        )
    if (program := _PROGRAM.search(head)) and probe.source.path.suffix == ".py":
        from calipers.shell import join_words

        called = program[1].decode()
        return (
            "is a program in Python, not what one returned. To ask it for results, give it as "
            f"--retriever {join_words([f'{probe.name}:{called}'])}"
        )
    return None
