"""All known formats, recognised by content; a file that fits two is refused.

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
from typing import Any

import calipers.plugins as plugins
from calipers.errors import CalipersError, InvalidInput, UnreadableFile
from calipers.io.files.open import Source
from calipers.io.files.probe import UTF_16, Probe
from calipers.io.files.write import PACKED, ending, is_stream
from calipers.io.format import Format, RecordStream, Writer
from calipers.io.formats.ours import Ours, is_ours_alone
from calipers.io.records.gather import MemoryBudget
from calipers.io.records.json_files import opened
from calipers.io.tables.columns import Columns
from calipers.io.tables.lines import are_measures, first_rows, holds_texts, is_lines, mostly
from calipers.io.tables.scan import InputTable
from calipers.model.matched import Dataset, Role
from calipers.words import did_you_mean


@cache
def built_in() -> tuple[Format, ...]:
    """The formats in the folder ``formats``, fallbacks last.

    They are imported for the first file that is not plainly ours. Adding a module there is all that
    a new format needs.
    """
    import calipers.io.formats as home

    names = sorted(one.name for one in iter_modules(home.__path__))
    modules = [import_module(f"{home.__name__}.{name}") for name in names]
    forms = [form for module in modules for form in getattr(module, "FORMS", ())]
    forms += [
        form()
        for module in modules
        for form in vars(module).values()
        if isinstance(form, type) and issubclass(form, Format) and not isabstract(form)
        if form.__module__ == module.__name__ and isinstance(getattr(form, "name", None), str)
    ]
    return tuple(sorted(forms, key=lambda form: form.fallback))


@cache
def plugged() -> tuple[Format, ...]:
    """The formats of other packages, without those that clash with a name or are invalid."""
    found = {form.name: form for form in built_in()}
    for entry, given in plugins.found(plugins.FORMATS).items():
        try:
            form = given() if isinstance(given, type) and issubclass(given, Format) else None
            name = "" if form is None else form.name
        except Exception as error:  # noqa: BLE001 - another's class may raise anything
            plugins.warn(plugins.FORMATS, entry, f"it raises {type(error).__name__}: {error}")
            continue
        if form is None:
            why = "it is no class of calipers.io.format.Format"
            plugins.warn(plugins.FORMATS, entry, why)
        elif name in found:
            plugins.warn(plugins.FORMATS, entry, f"there is already a form called {name!r}")
        else:
            found[name] = form
    return tuple(found.values())[len(built_in()) :]


def formats() -> tuple[Format, ...]:
    """All formats, those of other packages last."""
    return (*built_in(), *plugged())


def read_source(
    source: Source, role: Role, columns: Columns, room: MemoryBudget | None = None
) -> Dataset:
    """Read a file or folder in any known format."""
    opened = read_probe(Probe(source, columns), role)
    return opened if isinstance(opened, Dataset) else opened.dataset(room)


def read_probe(sight: Probe, role: Role) -> Dataset | RecordStream:
    """Read a file, a folder or a value in memory, as a stream if possible."""
    return recognise(sight, role).read(sight, role, False)


def recognise(sight: Probe, role: Role) -> Format:
    """The one format that recognises the file; none or two is an error."""
    try:
        sight.check()
    except UnreadableFile:
        # A format of another package may be binary.
        claimed = _of_others(sight)
        if not claimed:
            raise
    else:
        # Importing all formats takes about 18 ms, which a small evaluation can save.
        if is_ours_alone(sight):
            return Ours()
        if sight.look is None and not sight.columns_said.named:
            from calipers.io.formats.trec import plain_form

            if (plain := plain_form(sight)) is not None:
                return plain
        claimed = [form for form in built_in() if not form.fallback and form.detect(sight)]
        claimed = claimed or _of_others(sight)
    if len(claimed) > 1 and role != "both":
        claimed = [form for form in claimed if form.only in (None, role)] or claimed
    if len(claimed) > 1:
        if {form.only for form in claimed} == {"run", "ground_truth"}:
            what = "say which it is with --run or --ground-truth (run= or ground_truth= in Python)"
        else:
            what = "take out the fields of one of them, or convert it first with --from"
        raise two_forms(claimed, sight.name, what)
    if claimed:
        return claimed[0]

    wrong = UnreadableFile if sight.given is None else InvalidInput
    other = what_it_is(sight) if not sight.columns_said.named else None
    if other is not None:
        raise wrong(f"{sight.name} {other}.")
    found = next((form for form in built_in() if form.fallback and form.detect(sight)), None)
    if found is None:
        raise wrong(_unknown(sight, role))
    return found


def _of_others(sight: Probe) -> list[Format]:
    """The formats of other packages that recognise the file; one that fails is skipped."""
    claimed = []
    for form in plugged():
        try:
            if form.detect(sight):
                claimed.append(form)
        except CalipersError:  # about the file, as it cannot be opened
            raise
        except Exception as error:  # noqa: BLE001 - another's class may raise anything
            plugins.warn(plugins.FORMATS, form.name, f"it raises {type(error).__name__}: {error}")
    return claimed


def named(name: str) -> Format:
    """The format of that name.

    >>> named("ragas").title
    'ragas samples'
    """
    every = (form for forms in (built_in, plugged) for form in forms())
    found = next((form for form in every if form.name == name), None)
    if found is None:
        from calipers.gone import gone

        known = [form.name for form in formats()]
        raise InvalidInput(
            gone(f"--from {name}")
            or f"There is no form {name!r} to read; the forms are {', '.join(known)}."
            f"{did_you_mean(name, known)}"
        )
    return found


def writers(forms: tuple[Format, ...]) -> Mapping[str, Writer]:
    """The writers by name."""
    return {output.name: Writer(form, output) for form in forms for output in form.outputs}


def choose(path: Path, name: str | None) -> Writer:
    """The format to write: by name, or by the extension of the path.

    >>> choose(Path("out.jsonl"), None).output.name, choose(Path("a.jsonl"), "ragas").output.name
    ('jsonl', 'ragas')
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
    own = (*chosen.output.endings, *chosen.output.fits)
    others = {one for each in known.values() for one in each.output.endings}
    if own and ending(path) in others - set(own):
        raise InvalidInput(
            f"The output {path} has the ending of another form: {chosen.output.title} would stand "
            f"in a file that says {ending(path)}; name it {path.with_suffix(own[0])}."
        )
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
    found = next((one for one in known.values() if suffix in one.output.endings), None)
    return known["beir"] if found is None and path.is_dir() else found


def _cannot_be_written(path: Path, name: str | None, known: Mapping[str, Writer]) -> str:
    names = ", ".join(known)
    if name is not None:
        return (
            f"There is no form {name!r} to write; it can be ours, {names}."
            f"{did_you_mean(name, known)}"
        )
    endings = ", ".join(suffix for one in known.values() for suffix in one.output.endings)
    return (
        f"The ending of {path} does not say in which form to write: found "
        f"{ending(path) or 'none'}; use one of {endings}, or name the form with --to ({names})."
    )


def two_forms(claimed: Sequence[Format], name: str, advice: str) -> InvalidInput:
    """The error for input that several formats recognise."""
    names = " or ".join(f"{form.title} ({form.name})" for form in claimed)
    return InvalidInput(f"The form of {name} could be two: {names}; {advice}.")


def _no_query(table: InputTable, role: Role) -> str:
    """The error for a table without a query column, or without a header."""
    value = next(filter(_is_no_name, table.names()), None)
    if value is None:
        from calipers.io.tables.resolve import no_column

        return str(no_column(table, "query", role))
    return (
        f"{table.name} seems to be a table without a header: its first line holds {value!r}; put a "
        "line with the names of the columns first, such as query, item and grade."
    )


def _is_no_name(column: str) -> bool:
    """Whether a column name is a number or a question, and so a value, not a name."""
    return column.replace(".", "", 1).isdigit() or column.rstrip().endswith("?")


def _unknown(sight: Probe, role: Role) -> str:
    if sight.folder:
        inside = sorted(path.name for path in sight.folder.iterdir())[:5]
        return (
            f"Name a file in {sight.name}: the folder is in no known form (it holds "
            f"{', '.join(inside)[:60] or 'nothing'}), such as BEIR's (qrels), a saved dataset "
            "(state.json) or AutoRAG's (qa.parquet)."
        )
    if sight.table is not None:
        return _no_query(sight.table, role)
    first = sight.source.head.split(b"\n")[0][:80].decode(errors="replace")
    return (
        f"The form of {sight.name} is not known; its first line is {first!r:.50}. Give a table "
        "with a header such as query,item,grade, JSON lines, or TREC lines."
    )


_TOPIC_MARK = re.compile(rb"<(top|topic|topics|num|query|DOC)\b[^>]*>", re.IGNORECASE)
_TABBED_TOPIC = re.compile(rb"\S+\t[^\t]*[^\d\s][^\t]* [^\t]*")
_COLON_TOPIC = re.compile(rb"\w+:\s*[^\d\s].* .*")
_PROMPTFOO = re.compile(rb"^(prompts|providers|tests|defaultTest)\s*:", re.MULTILINE)
_ROWS_WITHOUT_NAMES = re.compile(rb"\s*\[\s*\[")
_PROGRAM = re.compile(rb"^(?:async )?def (\w+)\(", re.MULTILINE)
_SCORE_COLUMNS = frozenset({"query", "text", "status", "retrieved", "targets"})
_SAID = {
    "no text": "is neither text nor a binary form that Calipers knows; it reads JSON, JSON lines, "
    "CSV, TSV, TREC text, Excel, Parquet and Arrow files",
    "topics": "is a topic file: questions alone. Give the judgements (qrels) as --ground-truth and "
    "a run as --run; to ask a live retriever, write the questions as JSON lines with id and query",
    "nameless": "is a list of lists: rows without the names of their columns, as pandas writes "
    "them with orient='values'. Write it with orient='records', which keeps the names",
    "measures": "is what trec_eval printed: the values of measures, which cannot be measured "
    "again. Give the judgements (qrels) and the run that they were made from",
    "prose": "is plain text, neither a table nor TREC lines. Give a table with a header, such as "
    "question,chunk_id, or JSON lines with query and ground_truth",
    "MTEB": "is a result of MTEB: scores without rankings. Save the predictions "
    "(prediction_folder=…) and give them as --run, and the judgements of the task as "
    "--ground-truth",
    "promptfoo": "is of promptfoo: prompts, answers and tests, not what was retrieved. Give "
    "records with query, retrieved and ground_truth, such as the vars and contexts of each test",
    "predictions": "holds predictions of LlamaIndex without their questions. Give the "
    "LabelledRagDataset as the ground truth, and records with query and retrieved as the run",
    "scores": "holds scores that `calipers eval --per-query` wrote. Give it to eval, compare or "
    "gate; here, give the run or the ground truth that it was measured from",
    "SQuAD": "is SQuAD: questions with paragraphs and answers. Make a table of question and quote "
    "(what to find), or say --column quote=context --column ignore=answers",
}
"""What an unrecognised file may be, and what to give instead."""
_OBJECTS = {
    "MTEB": ({"scores", "task_name"}, {"scores", "mteb_version"}),
    "promptfoo": ({"evalId", "results"},),
    "predictions": ({"predictions", "class_name"},),
}
"""The keys of such objects."""


def is_readable(head: bytes) -> bool:
    """Whether the beginning of a file is text: few or no control characters.

    >>> is_readable(b"q1 0 d1 1"), is_readable(b"\\x01\\x02\\x03\\xfe")
    (True, False)
    """
    text = head.decode(errors="replace")
    odd = sum(not (one.isprintable() or one.isspace()) or one == "\ufffd" for one in text)
    return odd <= len(text) // 20


def what_it_is(sight: Probe) -> str | None:
    """What an unrecognised file is, and what to give instead; None if unclear."""
    if sight.look is not None and sight.look.shape == "object":
        return of_object(sight.look.first)
    if sight.given is None and sight.look and _ROWS_WITHOUT_NAMES.match(sight.source.head):
        return _SAID["nameless"]
    columns = sight.table.columns if sight.table is not None else frozenset[str]()
    if (sight.look.keys if sight.look is not None else columns) >= _SCORE_COLUMNS:
        return _SAID["scores"]
    if columns >= {"question", "context", "answers"}:
        return _SAID["SQuAD"]
    head = sight.source.head if is_lines(sight) else b""
    if not head or head.startswith(UTF_16):
        return None
    if not is_readable(head):
        return _SAID["no text"]
    if (program := _PROGRAM.search(head)) and sight.source.path.suffix == ".py":
        from calipers.shell import join_words

        called = program[1].decode()
        return (
            "is a program in Python, not what one returned. To ask it for results, give it as "
            f"--retriever {join_words([f'{sight.name}:{called}'])}"
        )
    if _TOPIC_MARK.search(head):
        return _SAID["topics"]
    if are_measures(sight):
        return _SAID["measures"]
    if len(_PROMPTFOO.findall(head)) > 1:
        return _SAID["promptfoo"]
    lines = [line for line in head.splitlines()[:50] if line.strip()]
    for topic in (_TABBED_TOPIC, _COLON_TOPIC):
        if 2 * sum(bool(topic.fullmatch(line.strip())) for line in lines) > len(lines):
            return _SAID["topics"]
    words = mostly(first_rows(sight), lambda row: len(row) >= 5)
    is_prose = words and not _is_divided(lines) and not holds_texts(sight)
    return _SAID["prose"] if is_prose else None


def of_object(value: Mapping[Any, Any]) -> str | None:
    """Like ``what_it_is``, for one object, decoded or not."""
    for what, keys in _OBJECTS.items():
        if any(own <= value.keys() for own in keys):
            return _SAID[what]
    inner, data = opened(value.get("results")), opened(value.get("data"))
    if isinstance(inner, Mapping) and {"results", "stats"} <= inner.keys():
        return _SAID["promptfoo"]
    first = data[0] if isinstance(data, list) and data else None
    return _SAID["SQuAD"] if isinstance(first, Mapping) and "paragraphs" in first else None


def _is_divided(lines: list[bytes]) -> bool:
    """Whether a separator of the first line occurs at least as often in most other lines."""
    for sign in (b"\t", b";", b",", b"|"):
        often = [line.count(sign) for line in lines]
        if often[0] and len(often) > 1 and sum(one >= often[0] for one in often) > 0.8 * len(often):
            return True
    return False
