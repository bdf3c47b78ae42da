"""The notebook runs from its first cell to its last, and every result in it shows itself."""

import json
import os
import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.filterwarnings("ignore")
def test_the_notebook(monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="notebooks run with nbclient and ipykernel")
    pytest.importorskip("ipykernel", reason="notebooks run with nbclient and ipykernel")
    nbformat = pytest.importorskip("nbformat", reason="notebooks are read with nbformat")
    source = str(EXAMPLES.parent / "src")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(EXAMPLES / "quickstart.ipynb", as_version=4)
    nbformat.validate(notebook)
    kept = [cell.outputs[0].data["text/plain"] for cell in notebook.cells if "outputs" in cell]
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": EXAMPLES}}
    ).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(cells) == 8
    now = [cell.outputs[0].data["text/plain"] for cell in cells]
    assert now[:-1] == kept[:-1], "what is kept in the notebook is older than its code; run it"
    for cell in cells:
        (shown,) = cell.outputs
        assert shown.output_type == "execute_result", "a result is shown, and nothing is printed"
        if (page := shown.data.get("text/html", "")).startswith("<p"):
            assert "<strong>" in page, cell.source
            assert len(shown.data["text/plain"].splitlines()) == 1


def test_the_notebook_is_kept_with_what_it_shows_and_without_places_of_a_machine():
    kept = json.loads((EXAMPLES / "quickstart.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in kept["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] for cell in cells)
    shown = json.dumps([cell["outputs"] for cell in cells])
    assert not re.search(r"(/home|/tmp|/root|/work|/Users|site-packages|[A-Z]:\\\\)", shown)
    assert "--explain" not in shown
