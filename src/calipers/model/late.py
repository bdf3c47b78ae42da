"""The one door from a value to its looks.

A notebook asks a value how it looks, and the model stands below whatever draws. So the drawer is
named here, and loaded only when somebody asks; nothing below depends on it.
"""

from importlib import import_module
from typing import Any

DRAWERS = {
    "html": ("calipers.present.notebook", "as_html"),
    "page": ("calipers.present.report", "report_html"),
    "labels": ("calipers.io.labels", "write_labels"),
    "markdown": ("calipers.present.report", "report_markdown"),
    "plot": ("calipers.present.plot", "save_plot"),
    "records": ("calipers.io.kept_records", "write_records"),
    "save": ("calipers.present.report", "save_report"),
    "spec": ("calipers.present.plot", "spec_of"),
}


def draw(form: str, value: Any, *further: Any) -> Any:
    """What the drawer of a form makes of a value."""
    module, name = DRAWERS[form]
    return getattr(import_module(module), name)(value, *further)
