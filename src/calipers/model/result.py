"""How a result shows itself: as text, in a notebook, as a chart and as a table."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from os import PathLike, fspath
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, ClassVar

from calipers.errors import InvalidInput, MissingExtra
from calipers.model.document import Document, records
from calipers.model.plain import SCHEMA as SCHEMA
from calipers.model.plain import Plain as Plain
from calipers.model.plain import from_moment as from_moment
from calipers.model.plain import moment as moment
from calipers.model.plain import plain as plain
from calipers.version import pip_install

if TYPE_CHECKING:
    import polars as pl


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

    def document(self) -> Document:
        """The answer as blocks, which every face shows in its own way."""
        module, _, name = self.shown_by.partition(":")
        found: Document = getattr(import_module(module), name or "document")(self)
        return found

    @property
    def _shown(self) -> Any:
        """The module that shows it, loaded when somebody looks."""
        return import_module(self.shown_by.partition(":")[0])

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
