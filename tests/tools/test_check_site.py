from pathlib import Path

import pytest

from tools.check_site import main, problems

PAGE = """<!doctype html><html><head><link rel="stylesheet" href="style.css">
<script src="app.js"></script></head><body><h1 id="top">T</h1>{body}</body></html>"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    write(
        tmp_path, "index.html", '<a href="sub/a.html#top">a</a> <a href="https://x.example">x</a>'
    )
    write(tmp_path / "sub", "a.html", '<a href="../index.html">back</a>')
    for folder in (tmp_path, tmp_path / "sub"):
        (folder / "style.css").write_text("body { background: url(data:image/png;base64,AA) }")
        (folder / "app.js").write_text("1")
    return tmp_path


def write(folder: Path, name: str, body: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(PAGE.format(body=body))


def test_a_whole_site_has_no_problem(site, capsys):
    assert list(problems(site)) == []
    assert main([str(site)]) == 0
    assert "all fine, 2 pages" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('<a href="nowhere.html">n</a>', "leads nowhere"),
        ('<a href="#bottom">n</a>', "names a place that does not exist"),
        ('<img src="https://x.example/a.png">', "from another site"),
        ('<img src="//x.example/a.png">', "from another site"),
        ("<style>@import 'https://x.example/a.css'</style>", "from another site"),
        ('<pre class="mermaid">graph</pre>', "from another site"),
        ('<img src="missing.png">', "which is not there"),
    ],
)
def test_each_fault_is_named(site, body, sentence):
    write(site, "index.html", f'<a href="sub/a.html">a</a>{body}')
    (found,) = problems(site)
    assert sentence in found


def test_a_page_that_nobody_links_to_is_named(site):
    write(site, "lost.html", "nobody")
    (found,) = problems(site)
    assert "lost.html: no way leads there" in found


def test_a_style_sheet_that_fetches_a_font_is_named(site):
    (site / "style.css").write_text("@font-face { src: url(https://fonts.example/a.woff2) }")
    (found,) = problems(site)
    assert "https://fonts.example/a.woff2" in found
