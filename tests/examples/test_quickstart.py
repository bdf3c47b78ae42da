"""The notebook runs from its first cell to its last, and every result in it shows itself."""

import os
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
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": EXAMPLES}}
    ).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(cells) == 7
    for cell in cells:
        (shown,) = [one for one in cell.outputs if one.output_type == "execute_result"]
        assert "<p><strong>" in shown.data["text/html"], cell.source
        assert len(shown.data["text/plain"].splitlines()) == 1


def test_the_notebook_is_kept_without_outputs():
    text = (EXAMPLES / "quickstart.ipynb").read_text(encoding="utf-8")
    assert '"outputs": []' in text
    assert "execute_result" not in text
