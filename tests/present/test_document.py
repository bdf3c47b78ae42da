"""A document in every face: the same sentence, nothing wider than the terminal, nothing steered."""

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from calipers.model.claim import SIGNS, Claim
from calipers.model.document import (
    Answers,
    Cell,
    Column,
    Document,
    Lines,
    Note,
    Table,
    short_notes,
)
from calipers.present.csv import as_csv
from calipers.present.html import for_notebook, for_page
from calipers.present.markdown import as_markdown
from calipers.present.terminal import as_text, first_line, print_document

HOSTILE = "<b>|x\x1b[31m\u202e"
WORDS = st.text("ab1.@–é漢 ", min_size=1, max_size=30).map(str.strip)
TABLE = Table(
    (Column("metric", words=True), "recall@10", Column("why", prose=True)),
    [(Cell("bm25", strong=True), Cell("0.770", "worse"), "It lost what it had found before.")],
)
WHOLE = Document(
    f"hybrid {HOSTILE} is better than bm25.",
    "better",
    blocks=[
        Answers([Claim("worse", f"fell {HOSTILE}", range="By 0.1 or more.", next="Ask 9 more.")]),
        Lines((), "Tables"),
        TABLE,
        Lines([f"q1 {HOSTILE}"], "Lost most"),
        Table(("k",), [("10",)], "Every k", detail=True),
    ],
    notes=[Note("method", "Paired test."), Note("doubt", "3 queries better."), HOSTILE],
    rows=lambda: [{"metric": "=1+1", "mean": 0.5, "interval": {"low": 0.1}}],
)


def printed(document, width, **options):
    paper = io.StringIO()
    print_document(document, Console(file=paper, width=width, color_system=None), **options)
    return paper.getvalue()


@given(
    st.lists(WORDS, min_size=1, max_size=6).flatmap(
        lambda heads: st.tuples(
            st.just(heads),
            st.lists(st.tuples(*(WORDS for _ in heads)), max_size=4),
            st.lists(st.sampled_from(["", "words", "prose", "spare"]), min_size=6, max_size=6),
        )
    ),
    st.integers(40, 120),
)
def test_no_line_of_a_table_is_wider_than_the_terminal(given_table, width):
    heads, rows, kinds = given_table
    columns = [
        Column(one, **({kind: True} if kind else {}))
        for one, kind in zip(heads, kinds, strict=False)
    ]
    text = printed(Document("Yes.", blocks=[Table(columns, rows)]), width)
    assert max(cell_len(line) for line in text.splitlines()) <= max(width, 62)
    for at, column in enumerate(columns):
        if not (column.spare or column.words or column.prose) and at:
            for row in rows:
                assert row[at] in text


def test_every_face_begins_with_the_sentence_and_its_sign():
    assert first_line(WHOLE).startswith("▲ hybrid")
    assert as_text(WHOLE).startswith("▲ hybrid")
    assert as_markdown(WHOLE).startswith("## ▲ hybrid")
    assert for_page(WHOLE, heading="h1").index("<h1>") < for_page(WHOLE).index("hybrid")
    assert '<span class="sign better">▲</span> hybrid' in for_notebook(WHOLE)


def test_hostile_text_steers_no_face():
    faces = (as_text(WHOLE, explain=True), as_markdown(WHOLE), for_page(WHOLE), for_notebook(WHOLE))
    for face in faces:
        assert "\x1b" not in face
        assert "\u202e" not in face
    for page in faces[1:]:
        assert "<b>" not in page
    assert as_csv(WHOLE) == "metric,mean,interval_low\n'=1+1,0.5,0.1\n"


def test_all_parts_of_a_claim_stand_in_their_order():
    for face in (as_text(WHOLE), as_markdown(WHOLE), for_page(WHOLE)):
        places = [face.index(part) for part in ("▼", "fell", "By 0.1", "Ask 9 more")]
        assert places == sorted(places)


def test_what_explains_waits():
    short, whole = as_text(WHOLE), as_text(WHOLE, explain=True)
    assert "Every k" not in short
    assert "Paired test." not in short
    assert "Every k" in whole
    assert "Paired test." in whole


def test_at_most_three_notes_the_command_last_and_how_many_more():
    notes = [Note("next", "Why: `calipers misses`"), *(Note("doubt", f"{n}") for n in range(5))]
    shown, left = short_notes(notes)
    assert [one.text for one in shown] == ["0", "1", "Why: `calipers misses`"]
    assert left == 3
    assert "3 more notes: --explain" in printed(Document("Yes.", notes=notes), 80)
    assert "3 more notes: .explain()" in as_text(Document("Yes.", notes=notes))


def test_signs_have_a_form_for_terminals_without_them():
    paper = io.TextIOWrapper(io.BytesIO(), encoding="cp437", errors="replace")
    print_document(WHOLE, Console(file=paper, width=80, color_system=None))
    paper.seek(0)
    text = paper.read()
    assert text.startswith("^ hybrid")
    assert "v fell" in text
    for sign in SIGNS.values():
        assert sign == "~" or sign not in text
