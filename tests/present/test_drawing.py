"""Charts as they are drawn: readable, harmless, and nothing on top of anything."""

from xml.etree import ElementTree

import pytest

from calipers.present.charts import Axis, Band, Chart, Dot, Mark, Panel, Stroke, numbers, rows
from calipers.present.drawing import (
    NOTEBOOK,
    PAGE,
    WIDTHS,
    draw,
    in_notebook,
    on_page,
    text_width,
    wrapped,
)
from tests.reports import HOSTILE

NAN, WIDE = float("nan"), WIDTHS["wide"]


def drawn(panel, width=WIDE, **looks):
    return draw(Chart("title", [panel], **looks), PAGE, width)


def texts(svg):
    """Every text with the room that it takes: left, right, baseline."""
    found = []
    for one in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        x, wide = float(one.get("x")), text_width(one.text)
        left = x - {"end": wide, "middle": wide / 2}.get(one.get("text-anchor"), 0)
        found.append((one.text, left, left + wide, float(one.get("y"))))
    return found


def overlapping(svg):
    placed = texts(svg)
    return [
        (one[0], other[0])
        for at, one in enumerate(placed)
        for other in placed[at + 1 :]
        if abs(one[3] - other[3]) < 9 and one[1] < other[2] and other[1] < one[2]
    ]


@pytest.mark.parametrize("width", WIDTHS.values())
def test_no_label_stands_on_another(width):
    dates = Axis(0, 99, [(i, f"2026-01-{i:02}") for i in (99, 0, *range(1, 99))])
    assert overlapping(drawn(Panel(dates, numbers(0, 1), []), width)) == []


@pytest.mark.parametrize("width", WIDTHS.values())
def test_long_names_stay_within_the_chart(width):
    names = ["short", "a name of many words that does not fit beside its row " * 4, "x" * 500]
    legend = [("circle", "accent", name) for name in names]
    panel = Panel(numbers(0, 1), rows(names), [Dot(0.5, -2, "x")], names[1], rows=3)
    svg = drawn(panel, width, legend=legend)
    for text, left, right, _ in texts(svg):
        assert left >= -1, text
        assert right <= width + 1, text
    assert overlapping(svg) == []


def test_what_is_undefined_is_a_gap():
    line = Stroke([(0, 0.1), (1, 0.2), (2, NAN), (3, 0.4), (4, float("inf"))])
    marks: list[Mark] = [line, Band([(0, NAN, 1.0)]), Dot(NAN, 0.5, "no")]
    svg = drawn(Panel(Axis(0, 4), numbers(0, 1), marks))
    assert "nan" not in svg
    assert "inf" not in svg
    assert svg.count('stroke-width="2"') == 2
    assert "<title>no" not in svg


def test_texts_of_others_are_only_texts():
    for text in HOSTILE:
        name = text[:300]
        line = Stroke([(0.1, 0), (0.2, 0)], said=name)
        panel = Panel(numbers(0, 1, name), rows([name]), [line], name, 1)
        chart = Chart(name, [panel], name, legend=[("line", "accent", name)])
        for svg in (draw(chart, PAGE, WIDE), in_notebook(chart)):
            root = ElementTree.fromstring(svg)
            tags = {one.tag.partition("}")[2] for one in root.iter()}
            assert tags <= {"svg", "desc", "title", "text", "path", "rect"}
            names = {attribute for one in root.iter() for attribute in one.attrib}
            assert not {one for one in names if one.startswith("on") or one in ("style", "href")}


def test_a_chart_on_a_page_has_its_colours_and_a_name():
    chart = Chart("What k gives", [Panel(numbers(0, 1), numbers(0, 1), [Dot(0, 1, "half")])])
    page = on_page(chart)
    assert page.count('role="img" aria-label="What k gives"') == len(WIDTHS)
    assert page.count("<title>half</title>") == len(WIDTHS)
    assert 'fill="var(--accent)"' in page
    assert "#" not in page
    assert on_page(Chart("nothing", [])) == ""


def test_a_notebook_keeps_the_colour_of_its_text():
    assert NOTEBOOK["ink"] == "currentColor"
    svg = in_notebook(Chart("c", [Panel(numbers(0, 1), numbers(0, 1), [])]))
    assert 'fill="currentColor"' in svg
    assert "<rect" not in svg


def test_wrapped_lines_fit_and_say_when_something_is_missing():
    assert wrapped("one two", 500) == ["one two"]
    lines = wrapped("not returned although another run has it at rank four " * 3, 90)
    assert len(lines) == 3
    assert all(text_width(line) <= 90 for line in lines)
    assert lines[-1].endswith("…")


@pytest.mark.parametrize("width", WIDTHS.values())
def test_a_chart_uses_the_width_it_is_given(width):
    chart = Chart("A sentence.", [Panel(numbers(0, 1), numbers(0, 1), [Dot(0, 1, "half")])])
    assert f'viewBox="0 0 {width} ' in draw(chart, PAGE, width)
