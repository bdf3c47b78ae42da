"""How a result shows itself: as text, in a notebook, as a chart and as a table."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from calipers.errors import InvalidInput, MissingExtra
from calipers.model.document import Document, records
from calipers.model.plain import SCHEMA as SCHEMA
from calipers.model.plain import Plain as Plain
from calipers.model.plain import from_moment as from_moment
from calipers.model.plain import moment as moment
from calipers.model.plain import plain as plain
from calipers.model.plain import sentences_of as sentences_of
from calipers.version import pip_install

if TYPE_CHECKING:
    import polars as pl


class ShowsItself:
    """A result that prints as its command does, and that a notebook shows as tables and charts.

    Results know nothing of how they are shown: the module that makes a document of one is
    loaded on first use, and so is the renderer of the output format.
    """

    shown_by: ClassVar[str]
    """The module whose function ``document`` makes the document, or module:function."""

    def document(self) -> Document:
        """The answer as blocks, which every output format renders in its own way."""
        module, _, name = self.shown_by.partition(":")
        document: Document = getattr(import_module(module), name or "document")(self)
        return document

    @property
    def _shown(self) -> Any:
        """The module that shows it, loaded on first use."""
        return import_module(self.shown_by.partition(":")[0])

    def plot(self) -> Any:
        """The chart of the answer, which a notebook draws."""
        draw = next(
            (block.draw for block in self.document().blocks if hasattr(block, "draw")),
            None,
        )
        if draw is None:
            raise InvalidInput(f"There is no chart of a {type(self).__name__}.")
        return _face("drawing").Plot(draw())

    def explain(self) -> str:
        """What the command prints with ``--explain``: everything that is known."""
        return self._text(explain=True)

    def _text(self, *, explain: bool) -> str:
        text: str = _face("terminal").as_text(self.document(), explain=explain)
        return text

    def _repr_html_(self) -> str:
        page: str = _face("html").for_notebook(self.document())
        return page

    def __str__(self) -> str:
        return self._text(explain=False)

    def __repr__(self) -> str:
        """The verdict alone, for a prompt."""
        said = _face("terminal").first_line_in_python(self.document())
        return f"<{type(self).__name__}: {said}>"


def _face(name: str) -> Any:
    """The renderer of an output format, loaded on first use."""
    return import_module(f"calipers.present.{name}")


class HasRows(ShowsItself):
    """A result that is also a table, one row for each thing that it is about."""

    def to_polars(self) -> "pl.DataFrame":
        """Its rows as a polars table, in full precision."""
        import polars as pl

        make = self.document().rows
        rows = make() if make else ()
        if isinstance(rows, pl.DataFrame):
            return rows
        return pl.DataFrame(records(rows), infer_schema_length=None, strict=False)

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
        return pd.DataFrame(
            {column.name: column.to_list() for column in self.to_polars()}
        )
