"""What makes a result show itself in a notebook."""


class ShownInNotebook:
    """A result that a notebook shows as a table or a chart.

    The model stands below whatever draws, so the drawing is loaded when a notebook asks for it.
    """

    def _repr_html_(self) -> str:
        from calipers.present.notebook import as_html

        return as_html(self)
