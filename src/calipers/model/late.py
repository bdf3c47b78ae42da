"""How a value is shown in a notebook or written to a file.

The model stands below whatever draws and writes. So the functions that do are named here, and
loaded only when somebody asks; nothing below depends on them.
"""

from importlib import import_module
from typing import Any

DRAWERS = {
    "html": ("calipers.present.notebook", "as_html"),
    "labels": ("calipers.io.labels", "write_labels"),
    "page": ("calipers.present.report", "report_html"),
    "markdown": ("calipers.present.report", "report_markdown"),
    "plot": ("calipers.present.plot", "save_plot"),
    "records": ("calipers.io.kept_records", "write_records"),
    "save": ("calipers.present.report", "save_report"),
    "spec": ("calipers.present.plot", "spec_of"),
}


def draw(form: str, value: Any, *further: Any) -> Any:
    """What the function named for a form makes of a value."""
    module, name = DRAWERS[form]
    return getattr(import_module(module), name)(value, *further)
