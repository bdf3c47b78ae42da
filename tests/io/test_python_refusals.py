"""What is refused in Python names keywords, and no option of the command line."""

import re

import pytest

from calipers import audit, compare, convert, evaluate, gate, read
from calipers.errors import CalipersError, is_command_line
from tests.io.natural_exports import draw_export
from tests.io.natural_files import draw_file
from tests.io.test_natural_files import value_of
from tests.io.test_refusals import FILES

OPTION = re.compile(r"(?<![\w-])--[a-z]|(?<![\w-])-[a-z] ")
RUN = {"q": ["a"], "p": ["b"]}


def without_commands(sentence: str) -> str:
    """A sentence without what stands in ticks, which is typed into a shell."""
    return "".join(str(sentence).split("`")[::2])


def refusals(call):
    try:
        call()
    except CalipersError as error:
        yield str(error)


@pytest.mark.parametrize("name", FILES)
def test_no_refused_file_names_an_option(name, tmp_path):
    path = tmp_path / name
    path.write_text(FILES[name], encoding="utf-8")
    calls = [
        lambda: evaluate(path),
        lambda: evaluate(ground_truth=path),
        lambda: evaluate(run=path),
        lambda: evaluate(ground_truth=path, run=RUN),
        lambda: evaluate(ground_truth=RUN, run=path, metrics="tn@3"),
        lambda: evaluate(ground_truth=path, run=RUN, columns={"grades": "x=1", "sheet": "s"}),
        lambda: evaluate(ground_truth=path, run=RUN, match="span"),
        lambda: audit(path),
        lambda: compare(path, path),
        lambda: gate(path, baseline=path),
        lambda: convert(path, output=str(tmp_path / "out.parquet.gz")),
        lambda: read(path),
    ]
    sentences = [sentence for call in calls for sentence in refusals(call)]
    assert len(sentences) > 3
    assert not is_command_line()
    for sentence in sentences:
        assert not OPTION.search(without_commands(sentence)), sentence


@pytest.mark.parametrize("draw", [draw_file, draw_export])
def test_no_natural_file_is_refused_with_an_option(draw, tmp_path):
    refused = 0
    for seed in range(25):
        file = draw(seed)
        path = tmp_path / f"data{file.ending}"
        path.write_bytes(file.content.encode(file.encoding))
        for sentence in refusals(lambda: value_of(file, path)):  # noqa: B023 - called at once
            refused += 1
            assert not OPTION.search(without_commands(sentence)), sentence
    assert refused > 2
