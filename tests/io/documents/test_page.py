"""What of an HTML page is text."""

import pytest

from calipers.io.documents.page import Page
from calipers.io.documents.sections import as_document

PROSE = "The client waits for a while and then tries the same call again."


@pytest.mark.parametrize(
    "around",
    [
        "<nav>Home Up Next</nav>",
        '<div class="nav-panel"><div>Home</div> Up Next</div>',
        '<div role="navigation">Home Up Next</div>',
        '<ul class="breadcrumb"><li>Home</li><li>Up</li></ul>',
        '<div id="sidebar"><div>Home<div>Up</div></div></div>',
        '<table class="navigation"><tr><td>Home</td></tr></table>',
        "<footer><p>Home Up Next</p></footer>",
        '<div class="toctree-wrapper compound"><ul><li>Home</li></ul></div>',
    ],
)
def test_navigation_header_and_footer_are_no_text(around):
    page = Page.of(f"<body>{around}<h1>Retries</h1><p>{PROSE}</p>{around}</body>")
    text = "".join(page.parts)
    assert "Home" not in text
    assert PROSE in text
    assert [section.heading for section in page.sections] == ["Retries"]


def test_where_a_page_names_its_main_part_only_that_is_read():
    page = Page.of(
        f"<div>Home</div><main><header><h1>Retries</h1></header><div><p>{PROSE}</p></div></main>"
        "<div>Home</div>"
    )
    assert [section.heading for section in page.sections] == ["Retries"]
    assert "Home" not in "".join(page.parts)
    page = Page.of(f'<p>Home</p><div role="main"><div>{PROSE}</div> More</div><p>Home</p>')
    assert "Home" not in "".join(page.parts)
    assert "More" in "".join(page.parts)


def test_words_like_navigation_in_other_classes_are_text():
    page = Page.of(f'<div class="content navy tocsin"><p>{PROSE}</p></div>')
    assert PROSE in "".join(page.parts)


def test_code_lists_and_tables_are_marked_as_in_markdown():
    page = Page.of("<pre>x = 1</pre><ul><li>one</li></ul><table><tr><td>a</td></tr></table>")
    lines = [line for line in "".join(page.parts).split("\n") if line.strip()]
    assert lines == ["```", "x = 1", "```", "- one", "| a"]


def test_levels_title_and_what_a_section_stands_under():
    for kind, text in (
        ("markdown", f"# A\n\n{PROSE}\n\n## B\n\n### C\n\n## D\n"),
        ("rst", f"A\n=====\n\n{PROSE}\n\nB\n-----\n\nC\n~~~~~\n\nD\n-----\n"),
        ("html", f"<h1>A</h1><p>{PROSE}</p><h2>B</h2><h3>C</h3><h2>D</h2>"),
    ):
        document = as_document("a", kind, text)
        headed = [section for section in document.sections if section.heading]
        assert [section.level for section in headed] == [1, 2, 3, 2], kind
        above = [document.parent(section) for section in headed]
        assert [one and one.heading for one in above] == [None, "A", "B", "A"]
        assert document.title == "A"
    assert as_document("a", "markdown", "## A\n\n## B\n\n## C\n").title == ""


def test_a_subheading_of_texinfo_stands_below_the_section_of_its_level():
    text = f"<h4>Bars</h4><p>{PROSE}</p><h4 class='subsubheading'>Long bars</h4><p>{PROSE}</p>"
    document = as_document("a", "html", f"{text}<h4>Notes</h4><p>{PROSE}</p>")
    headed = [section for section in document.sections if section.heading]
    above = [document.parent(section) for section in headed]
    assert [one and one.heading for one in above] == [None, "Bars", None]
