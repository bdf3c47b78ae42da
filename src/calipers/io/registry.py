"""All known formats, recognised by content; a file that fits two is refused.

Formats of other packages are entry points in the group ``calipers.formats``, each naming a class
like those in the folder ``formats``. They are tried if no built-in one recognises the file.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from inspect import isabstract
from pathlib import Path
from pkgutil import iter_modules

import calipers.plugins as plugins
from calipers.errors import CalipersError, InvalidInput, Unclear, UnreadableFile
from calipers.io.files.open import Source
from calipers.io.files.probe import UTF_16, Probe
from calipers.io.files.write import PACKED, ending, is_stream
from calipers.io.format import Format, Writer
from calipers.io.formats.ours import Ours, is_ours_alone
from calipers.io.records.gather import MemoryBudget
from calipers.io.tables.columns import Columns
from calipers.io.tables.lines import is_lines
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
    return read_probe(Probe(source, columns, room=room), role)


def read_probe(sight: Probe, role: Role) -> Dataset:
    """Read a file, a folder or a value in memory; what is unclear is refused with tried lines."""
    try:
        found = _read(sight, role)
    except Unclear as unclear:
        if sight.trial:
            raise
        from calipers.io.tables.propose import settled

        raise settled(unclear, sight, role, read_probe) from None
    if found.unclear is None or sight.trial:
        return found
    from calipers.io.tables.propose import proposed

    return replace(found, proposal=proposed(found.unclear, sight, role, read_probe), unclear=None)


def _read(sight: Probe, role: Role) -> Dataset:
    """Read a file, a folder or a value in its format."""
    if sight.look is not None and sight.look.shape == "object":
        from calipers.io.formats.exports import unfolded

        sight = unfolded(sight)
    form = recognise(sight, role)
    if role != "ground_truth" and form.name in _BY_NAMES and not is_ours_alone(sight):
        from calipers.io.records.rankings import check_one_ranking

        check_one_ranking(sight)
    return form.read(sight, role)


_BY_NAMES = frozenset({"ours", "records", "table"})
"""The formats whose fields are found by their names, which two fields may have."""


def recognise(sight: Probe, role: Role) -> Format:
    """The one format that recognises the file; none or two is an error."""
    sight.check()
    if sight.look is not None and {"schema", "calipers"} <= sight.look.first.keys():
        raise InvalidInput(
            f"{sight.name} holds scores that Calipers printed as JSON. Give it to compare or "
            "gate; here, give the run or the ground truth that it was measured from."
        )
    # Importing all formats takes about 18 ms, which a small evaluation can save.
    if is_ours_alone(sight):
        return Ours()
    if sight.look is None and not sight.columns_said.named:
        from calipers.io.formats.trec import plain_form

        if (plain := plain_form(sight)) is not None:
            return plain
    claimed = [form for form in built_in() if not form.fallback and form.detect(sight)]
    if not sight.is_text and all(form.yields(sight) for form in claimed):
        from calipers.io.formats.exports import Exports, find_export

        if find_export(sight, role, whole=bool(claimed)) is not None:
            return Exports()
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
        raise _unknown(sight, role)
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
        known = [form.name for form in formats()]
        raise InvalidInput(
            f"There is no form {name!r} to read; the forms are {', '.join(known)}."
            f"{did_you_mean(name, known)}"
        )
    return found


def writers(forms: tuple[Format, ...]) -> Mapping[str, Writer]:
    """The writers by name."""
    return {output.name: Writer(form, output) for form in forms for output in form.outputs}


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


def _no_query(table: InputTable, role: Role) -> InvalidInput:
    """The error for a table without a query column, or without a header."""
    value = next(filter(_is_no_name, table.names()), None)
    if value is None:
        from calipers.io.tables.resolve import no_column

        return no_column(table, "query", role)
    return UnreadableFile(
        f"{table.name} seems to be a table without a header: its first line holds {value!r}; put a "
        "line with the names of the columns first, such as query, item and grade."
    )


def _is_no_name(column: str) -> bool:
    """Whether a column name is a number, a question or a sentence, and so a value."""
    is_number = column.replace(".", "", 1).isdigit()
    return is_number or column.rstrip().endswith("?") or len(column.split()) > MOST_WORDS


MOST_WORDS = 5
"""Words of a column's name; more are a sentence."""


def _unknown(sight: Probe, role: Role) -> InvalidInput:
    """The error for a file or value in no known form."""
    wrong = UnreadableFile if sight.given is None else InvalidInput
    if sight.folder:
        inside = sorted(path.name for path in sight.folder.iterdir())[:5]
        return wrong(
            f"Name a file in {sight.name}: the folder is in no known form (it holds "
            f"{', '.join(inside)[:60] or 'nothing'}), such as BEIR's (qrels), a saved dataset "
            "(state.json) or AutoRAG's (qa.parquet)."
        )
    if sight.table is not None:
        return _no_query(sight.table, role)
    first = sight.source.head.split(b"\n")[0][:80].decode(errors="replace")
    return wrong(
        f"The form of {sight.name} is not known; its first line is {first!r:.50}. Give a table "
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


def what_it_is(sight: Probe) -> str | None:
    """What an unrecognised file is, and what to give instead; None if unclear."""
    columns = next(iter(sight.row_keys.values()), frozenset[str]())
    if columns >= _SCORE_COLUMNS:
        return (
            "holds scores that `calipers eval --per-query` wrote. Give the run or the ground truth "
            "that they come from, or, to compare, what `calipers eval --json` wrote"
        )
    if columns >= {"question", "context", "answers"}:
        return (
            "is SQuAD: questions with paragraphs and answers. Make a table of question and quote "
            "(what to find), or say --column quote=context --column ignore=answers"
        )
    head = sight.source.head if is_lines(sight) else b""
    if head and not head.startswith(UTF_16) and not is_readable(head):
        return (
            "is neither text nor a binary form that Calipers knows; it reads JSON, JSON lines, "
            "CSV, TSV, TREC text, Excel, Parquet and Arrow files"
        )
    if (program := _PROGRAM.search(head)) and sight.source.path.suffix == ".py":
        from calipers.shell import join_words

        called = program[1].decode()
        return (
            "is a program in Python, not what one returned. To ask it for results, give it as "
            f"--retriever {join_words([f'{sight.name}:{called}'])}"
        )
    return None
