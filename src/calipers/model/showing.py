"""What makes a result show itself, at a prompt and in a notebook."""


class ShownInNotebook:
    """A result that prints as its command does, and that a notebook shows as tables and charts.

    The model stands below whatever draws, so the drawing is loaded when somebody looks.
    """

    def _repr_html_(self) -> str:
        from calipers.present.notebook import as_html

        return as_html(self)

    def __str__(self) -> str:
        from calipers.present.printers import as_text

        return as_text(self)

    def __repr__(self) -> str:
        """The verdict alone, for a prompt."""
        from calipers.present.printers import first_line

        return f"<{type(self).__name__}: {first_line(self)}>"
