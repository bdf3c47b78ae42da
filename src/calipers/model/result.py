"""What every result has: plain values for JSON, and a way to show itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, ClassVar, overload

from calipers.errors import InvalidInput, MissingExtra
from calipers.version import pip_install

if TYPE_CHECKING:
    import polars as pl

    from calipers.model.document import Document


SCHEMA = 1
"""The number of the form of what ``--json`` prints; it grows when a field goes or means another."""


class Plain:
    """A dataclass that can be had as plain values."""

    dict_keys: ClassVar[str] = ""
    """The fields and properties that ``to_dict`` has, in its order and with spaces between;
    ``key=name`` where it has another key for one. Empty: every field, in the order of the class."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        return _attributes(self, self.dict_keys.split())


@overload
def plain(value: Mapping[str, Any]) -> dict[str, Any]: ...
@overload
def plain(value: Any) -> Any: ...
def plain(value: Any) -> Any:
    """A value and all that it holds as JSON knows it: dictionaries, lists, texts and numbers.

    A result becomes what its ``to_dict`` says, and every other dataclass its fields in order.

    >>> plain({"saved": datetime(2026, 1, 31, 6, tzinfo=UTC), "files": ("a", Path("b"))})
    {'saved': '2026-01-31T06:00:00.000000Z', 'files': ['a', 'b']}
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Plain):
        return value.to_dict()
    if is_dataclass(value):
        return _attributes(value)
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, Sequence):
        return [plain(one) for one in value]
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, Path):
        return str(value)
    return value


def _attributes(value: Any, keys: Sequence[str] = ()) -> dict[str, Any]:
    named = [key.partition("=") for key in keys or [field.name for field in fields(value)]]
    return {key: plain(getattr(value, name or key)) for key, _, name in named}


def moment(when: datetime) -> str:
    """A time as JSON and the store have it: UTC, to the microsecond, sorting as it reads.

    >>> moment(datetime(2026, 1, 31, 6, tzinfo=UTC))
    '2026-01-31T06:00:00.000000Z'
    """
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def from_moment(text: str) -> datetime:
    """The time that ``moment`` wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


@dataclass(frozen=True)
class Looks:
    """How one kind of result is shown."""

    printer: Callable[..., None]
    """Prints it on a console, as its command does."""
    text: Callable[[Any, bool], str]
    """What its command prints; with every note where that is asked for."""
    line: Callable[[Any], str]
    html: Callable[[Any], str]
    save_chart: Callable[[Any, str], None]
    frame: "Callable[[Any], pl.DataFrame] | None" = None
    """Its rows as a table."""


LOOKS: dict[type, Looks] = {}
"""How each kind of result is shown; the module that shows it enters it here when it is loaded."""


class ShowsItself:
    """A result that prints as its command does, and that a notebook shows as tables and charts.

    Results know nothing of how they are shown: the module that makes a document of one is loaded
    when somebody looks, and so is the renderer of the face that shows it.
    """

    shown_by: ClassVar[str]
    """The module whose function ``document`` makes the document, or module:function."""

    def document(self) -> "Document":
        """The answer as blocks, which every face shows in its own way."""
        module, _, name = self.shown_by.partition(":")
        found: Document = getattr(import_module(module), name or "document")(self)
        return found

    @property
    def _has_document(self) -> bool:
        module, _, name = self.shown_by.partition(":")
        return hasattr(import_module(module), name or "document")

    @property
    def _looks(self) -> Looks:
        import_module(self.shown_by)
        return next(LOOKS[kind] for kind in type(self).__mro__ if kind in LOOKS)

    def save_chart(self, path: str | PathLike[str]) -> None:
        """Write the one chart of the answer to an .svg file."""
        if not isinstance(path, str | PathLike):
            raise InvalidInput(f"A chart is written to a path; found {short(path)}.")
        if not self._has_document:
            self._looks.save_chart(self, fspath(path))
            return
        draw = next((one.draw for one in self.document().blocks if hasattr(one, "draw")), None)
        if draw is None:
            raise InvalidInput(f"There is no chart of a {type(self).__name__}.")
        import_module("calipers.present.chart_output").write_chart(draw(), fspath(path))

    def explain(self) -> str:
        """What the command prints with ``--explain``: everything that is known."""
        return self._text(explain=True)

    def _text(self, *, explain: bool) -> str:
        if not self._has_document:
            return self._looks.text(self, explain)
        text: str = import_module("calipers.present.on_terminal").as_text(
            self.document(), explain=explain
        )
        return text

    def _repr_html_(self) -> str:
        if not self._has_document:
            return self._looks.html(self)
        page: str = import_module("calipers.present.html").for_notebook(self.document())
        return page

    def __str__(self) -> str:
        return self._text(explain=False)

    def __repr__(self) -> str:
        """The verdict alone, for a prompt."""
        if not self._has_document:
            return f"<{type(self).__name__}: {self._looks.line(self)}>"
        line = import_module("calipers.present.on_terminal").first_line(self.document())
        return f"<{type(self).__name__}: {line}>"


class HasRows(ShowsItself):
    """A result that is also a table, one row for each thing that it is about."""

    def to_polars(self) -> "pl.DataFrame":
        """Its rows as a polars table, in full precision."""
        import polars as pl

        if self._has_document:
            from calipers.model.document import records

            make = self.document().rows
            rows = make() if make else ()
            if isinstance(rows, pl.DataFrame):
                return rows
            return pl.DataFrame(records(rows), infer_schema_length=None, strict=False)
        frame = self._looks.frame
        if frame is None:
            raise TypeError(f"{self.shown_by} does not say what the rows of {type(self)} are")
        return frame(self)

    def to_pandas(self) -> Any:
        """The same as a pandas table."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtra(
                "A pandas table needs pandas, which is not installed; run "
                f"{pip_install('pandas')}, or use to_polars()."
            ) from error
        # Column by column: the way of polars needs pyarrow, which pandas can do without.
        return pd.DataFrame({column.name: column.to_list() for column in self.to_polars()})
