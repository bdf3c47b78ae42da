"""Every form Calipers knows, recognised by content; a file that could be two is not guessed.

Forms of other packages are found by their entry points in the group ``calipers.formats``, each
naming a class as those in ``formats.built_in``. They are asked where no built-in form knows the
file.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import calipers.plugins as plugins
from calipers.errors import CalipersError, InvalidInput, UnreadableFile
from calipers.io.files.open import Source
from calipers.io.files.probe import Sight
from calipers.io.files.write import PACKED, ending, is_stream
from calipers.io.format import Format, Writer
from calipers.io.formats.ours import Ours, is_ours_alone
from calipers.io.records.gather import Room
from calipers.io.tables.columns import Columns, nothing_fits
from calipers.model.matched import Dataset, Role
from calipers.words import did_you_mean


@cache
def built_in() -> tuple[Format, ...]:
    """The built-in forms, loaded when the first file comes that is not plainly ours."""
    from calipers.io.formats.built_in import BUILT_IN

    return tuple(form() for form in BUILT_IN)


@cache
def plugged() -> tuple[Format, ...]:
    """The forms of other packages; one that has a name of ours, or is no form, is left out."""
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
    """Every form, those of other packages last."""
    return (*built_in(), *plugged())


def read_source(source: Source, role: Role, columns: Columns, room: Room | None = None) -> Dataset:
    """What a file or folder holds, in whatever known form it is."""
    sight = Sight(source, columns)
    opened = recognise(sight, role).read(sight, role, False)
    return opened if isinstance(opened, Dataset) else opened.dataset(room)


def recognise(sight: Sight, role: Role) -> Format:
    """The one form that knows the file; none or two is an error."""
    try:
        sight.check()
    except UnreadableFile:
        # A form of another package may be binary.
        claimed = _of_others(sight)
        if not claimed:
            raise
    else:
        # To load every form takes some 18 ms, which a small evaluation need not spend.
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
    from calipers.io.unsupported import what_it_is

    other = what_it_is(sight) if not sight.columns_said.named else None
    if other is not None:
        raise UnreadableFile(f"{sight.name} {other}.")
    found = next((form for form in built_in() if form.fallback and form.detect(sight)), None)
    if found is None:
        raise UnreadableFile(_unknown(sight))
    return found


def _of_others(sight: Sight) -> list[Format]:
    """The forms of other packages that know the file; one that fails is left out."""
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
    """The form of that name.

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
    """What can be written, by name."""
    return {output.name: Writer(form, output) for form in forms for output in form.outputs}


def choose(path: Path, name: str | None) -> Writer:
    """The form to write: as named, or as the ending of the path says.

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
    """The complaint about what several forms take for their own."""
    names = " or ".join(f"{form.title} ({form.name})" for form in claimed)
    return InvalidInput(f"The form of {name} could be two: {names}; {advice}.")


def _no_query(name: str, columns: list[str]) -> str:
    """The sentence for a table without a column for the query, or without a header at all."""
    value = next(filter(_is_no_name, columns), None)
    if value is None:
        return nothing_fits(name, columns, "query")
    return (
        f"{name} seems to be a table without a header: its first line holds {value!r}; put a line "
        "with the names of the columns first, such as query, item and grade."
    )


def _is_no_name(column: str) -> bool:
    """Whether the name of a column is a number or a question, which only a value can be."""
    return column.replace(".", "", 1).isdigit() or column.rstrip().endswith("?")


def _unknown(sight: Sight) -> str:
    known = ", ".join(form.name for form in formats())
    if sight.folder:
        inside = sorted(path.name for path in sight.folder.iterdir())[:5]
        return (
            f"The folder {sight.name} is in no known form; it holds "
            f"{', '.join(inside) or 'nothing'}. Calipers reads a BEIR folder (queries.jsonl and "
            "qrels), a dataset saved to disk (state.json), and AutoRAG's (qa.parquet); or name a "
            "file in it."
        )
    if sight.table is not None:
        return _no_query(sight.name, sight.table.names())
    first = sight.source.head.split(b"\n")[0][:80].decode(errors="replace")
    found = f"its first line is {first!r}"
    return f"The form of {sight.name} is not known; {found}. Calipers reads {known}."
