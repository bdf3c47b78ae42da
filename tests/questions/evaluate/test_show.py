"""The table of scores looks as rich would show it."""

import io
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from calipers.questions.evaluate.show import Cell, ScoreTable, _narrow, _wide

WORDS = st.text("ab1.@–é漢 ", max_size=9).map(str.strip)
CELLS = st.none() | st.builds(Cell, WORDS, WORDS)


@st.composite
def views(draw: st.DrawFn) -> ScoreTable:
    columns = draw(st.lists(WORDS.filter(bool), min_size=1, max_size=4))
    cells = st.tuples(*(CELLS for _ in columns))
    rows = draw(st.lists(st.tuples(WORDS, cells), min_size=1, max_size=4))
    return ScoreTable(tuple(columns), tuple(rows))


def shown(value: Any, width: int) -> list[str]:
    paper = io.StringIO()
    Console(file=paper, width=width, color_system=None).print(value)
    return paper.getvalue().splitlines()


@settings(max_examples=60, deadline=None)
@given(views())
def test_it_is_written_as_the_library_writes_it(view: ScoreTable) -> None:
    for table in (_wide(view), _narrow(view)):
        assert shown(table, 120) == shown(table.as_table(), 120)
        assert sum(table.widths) == max(map(cell_len, shown(table, 120)))
