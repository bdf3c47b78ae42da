"""Python, an agent and pages have no options: what they read names keywords or settings.

Commands to be typed, which stand whole, are not meant.
"""

import asyncio
import html
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import calipers
from calipers.cli.mcp import Tools, _call_tool, plain_document
from calipers.errors import CalipersError, command_line, is_command_line, no_command_line
from calipers.keywords import OPTIONS, SWITCHES, in_python
from calipers.operation import arguments
from calipers.operations import OPERATIONS
from calipers.present.html import for_page
from tests.questions.samples import SAMPLES, write_files

OPTION = re.compile(r"[^.\n]*(?<![\w-])--[a-z][^.\n]*")
COMMAND = re.compile(r"<code>[^<]*</code>|`[^`]*`|^ *calipers .*$", re.MULTILINE)


def options_in(text: str) -> list[str]:
    """What a text says with an option, outside of commands and of markup."""
    plain = html.unescape(re.sub(r"<[^>]+>", " ", COMMAND.sub(" ", text)))
    return OPTION.findall(plain)


KEYWORDS = {
    argument.name: argument.kind
    for operation in OPERATIONS.values()
    for argument in arguments(operation.function).values()
}
KEYWORD = re.compile(rf"(?<![\w.?&/])({'|'.join(sorted(KEYWORDS))})=(?!=)")
VALUE = re.compile(
    r"(?:\"[^\"]*\"|'[^']*'|\[[^]]*\]|\{(?:[^{}]|\{[^}]*\})*\}|\d+(?:\.\d+)?|True|False|None|…|[A-Z_:]{1,12}|\w+)"
    r"(?=[\s.,;:)]|$)"
)
OPEN = re.compile(r"$|[.,;:)]|\s+(?:$|\(|(?:or|and|to|is|too|takes|leaves|one|where|here|again)\b)")
"""What follows a keyword whose value the reader knows."""


def broken_in(text: str) -> list[str]:
    """Keywords in a text that are not as Python takes them."""
    plain = COMMAND.sub(" ", text)
    return [
        plain[max(found.start() - 30, 0) : found.end() + 30]
        for found in KEYWORD.finditer(plain)
        if not (
            VALUE.match(plain, found.end())
            or (KEYWORDS[found[1]] is not bool and OPEN.match(plain, found.end()))
        )
    ]


@pytest.mark.parametrize("name", SAMPLES)
def test_no_answer_names_an_option_outside_of_the_command_line(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sample = SAMPLES[name]
    sample.prepare()
    result = sample.call()
    if not hasattr(result, "document"):
        return
    document = result.document()
    faces = {
        "Python": str(result),
        "the prompt": repr(result),
        "a page": for_page(document),
        "an agent": json.dumps(plain_document(document), ensure_ascii=False),
    }
    if hasattr(result, "explain"):
        faces["explained"] = result.explain()
    if hasattr(result, "_repr_html_"):
        faces["a notebook"] = result._repr_html_()
    assert {face: found for face, text in faces.items() if (found := options_in(text))} == {}
    said = [text for face, text in faces.items() if face in ("Python", "explained")]
    assert [broken_in(text) for text in said] == [[]] * len(said)


def _evals(**changes):
    row = {"id": "q", "query": "how", "ground_truth": ["a"], "retrieved": ["a", "b"]}
    return [{**row, **changes}, {**row, "id": "p", "query": "why"}]


REFUSED = {
    "no common id": lambda: calipers.evaluate(_evals(retrieved=["docs/x.md"])[:1]),
    "ids with a prefix": lambda: calipers.evaluate(
        [{**row, "retrieved": ["x/a"]} for row in _evals()]
    ),
    "no ground truth": lambda: calipers.evaluate([{"id": "q", "query": "x", "retrieved": ["a"]}]),
    "no results": lambda: calipers.evaluate([{"id": "q", "query": "x", "ground_truth": ["a"]}]),
    "no such tag": lambda: calipers.slices(calipers.evaluate(_evals()), "language_of"),
    "a metric of a corpus": lambda: calipers.evaluate(_evals(), metrics="tn@5"),
    "a level without documents": lambda: calipers.evaluate(_evals(), level="document"),
    "a match without texts": lambda: calipers.evaluate(_evals(), match="quote"),
    "a floor without scores": lambda: calipers.evaluate(_evals(), min_score=0.5),
    "a gate of nothing": lambda: calipers.gate(_evals()),
    "slices without a baseline": lambda: calipers.gate(
        _evals(), require="recall@1 >= 0.1", by="kind"
    ),
    "weights that are none": lambda: calipers.evaluate(_evals(), weight_by="kind"),
    "growth without a corpus": lambda: calipers.grow(_evals(), to=100),
    "no history": lambda: calipers.history("nightly", store="none.db"),
    "no retriever": lambda: calipers.explain("how"),
    "no sealed queries": lambda: calipers.confirm("evals.jsonl", "turned.jsonl"),
    "two runs of one column": lambda: calipers.evaluate("rows.csv"),
    "words as grades": lambda: calipers.evaluate("words.csv"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_no_refusal_in_python_names_an_option(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files()
    Path("rows.csv").write_text("q_id,doc_id,score\n1,a,0.5\n1,b,0.25\n", "utf-8")
    rows = "query_id,doc_id,rank,label\n1,a,1,good\n1,b,2,poor\n2,c,1,odd\n"
    Path("words.csv").write_text(rows, "utf-8")
    with pytest.raises(CalipersError) as refused:
        REFUSED[name]()
    assert options_in(str(refused.value)) == []
    assert broken_in(str(refused.value)) == []


SAID = {
    "or say whose such rows are: --judge anna, or --judge machine:NAME for a language model.": (
        'or say whose such rows are: judge="anna", or judge="machine:NAME" for a language model.'
    ),
    "Save it again (`calipers gate save`), or compare all the same with --anyway.": (
        "Save it again (`calipers gate save`), or compare all the same with anyway=True."
    ),
    "leave out --weight-by.": "leave out weight_by.",
    "leave about ±0.05; ask for --until 0.09 or more, or draw more (--most).": (
        "leave about ±0.05; ask for until=0.09 or more, or draw more (most=)."
    ),
    "language models gave all of the labels; add --machines to count them": (
        "language models gave all of the labels; add machines=True to count them"
    ),
    "Save without --no-results.": "Save without results=False.",
    "begin again with --restart, or keep them with --retry-errors.": (
        "begin again with restart=True, or keep them with retry_errors=True."
    ),
    'write --request \'{"query": "{query}", "limit": "{k}"}\'.': (
        'write request={"query": "{query}", "limit": "{k}"}.'
    ),
    "such as --address https://judge.example.org. TLS": (
        'such as address="https://judge.example.org". TLS'
    ),
    "give it as --retriever search.py:search": 'give it as retriever="search.py:search"',
    "if you trust it name it yourself: --config ../calipers.toml": (
        'if you trust it name it yourself: config="../calipers.toml"'
    ),
    "by themselves (--by doc.kind). --by type compares each.": (
        'by themselves (by="doc.kind"). by="type" compares each.'
    ),
    "Let a model write some: --endpoint URL --model NAME.": (
        "Let a model write some: endpoint=URL, model=NAME."
    ),
    "give --corpus-size too, or --times 2,4,10; say how often: --every 7d": (
        'give corpus_size= too, or times=[2, 4, 10]; say how often: every="7d"'
    ),
}


@pytest.mark.parametrize("option", SAID)
def test_a_value_is_a_literal_a_switch_is_true_and_what_is_left_out_is_a_name(option):
    assert in_python(option, "=") == SAID[option]
    assert broken_in(SAID[option]) == []


def test_switches_are_what_takes_true_or_false():
    kinds = {
        name.lstrip("-"): argument.kind
        for operation in OPERATIONS.values()
        for argument in arguments(operation.function).values()
        if argument.setting is not None
        for name in argument.setting.names(argument.name)
    }
    of_commands = {"check", "list", "no-results"}
    two_meanings = {"results"}
    taken = {name for name in OPTIONS if kinds.get(name) is bool} - two_meanings
    assert taken == {*SWITCHES} - of_commands


@pytest.mark.parametrize("text", ["judge= anna, or", "with anyway=.", "until= 0.1", "by=x/y a"])
def test_what_python_does_not_take_is_seen(text):
    assert broken_in(text)


@pytest.mark.parametrize(
    "asked",
    [
        ("evaluate", {"data": "rows.csv"}),
        ("evaluate", {"data": "evals.jsonl", "where": "kind=x"}),
        ("evaluate", {"data": "evals.jsonl", "metrics": "tn@5"}),
        ("gate", {"data": "evals.jsonl"}),
        ("explain", {"question": "how"}),
        ("grow", {"data": "evals.jsonl", "to": "100"}),
        ("compare", {"systems": ["evals.jsonl"]}),
    ],
    ids=str,
)
def test_no_refusal_of_a_tool_names_an_option(asked, tmp_path, monkeypatch):
    pytest.importorskip("mcp")
    monkeypatch.chdir(tmp_path)
    write_files()
    Path("rows.csv").write_text("q_id,doc_id,score\n1,a,0.5\n1,b,0.25\n", "utf-8")
    name, keywords = asked
    with no_command_line():
        call = SimpleNamespace(name=name, arguments=keywords)
        answer = asyncio.run(_call_tool(Tools(tmp_path), None, call))
    assert answer.is_error
    assert options_in(answer.content[0].text) == []


def test_what_serves_pages_or_an_agent_is_no_command_line():
    with command_line():
        with no_command_line():
            assert not is_command_line()
        assert is_command_line()


def test_texts_of_the_user_keep_their_hyphens():
    rows = [
        {
            "id": f"q{at}",
            "query": f"How do I use git commit --all --amend {at}?",
            "ground_truth": ["a"],
            "retrieved": ["b --force"],
        }
        for at in range(3)
    ]
    rows[0]["retrieved"] = ["a"]
    text = str(calipers.misses(rows))
    assert "q1: How do I use git commit --all --amend 1?" in text
    assert "b --force" in text
    assert "--all --amend 1?" in calipers.misses(rows)._repr_html_()


def test_the_options_that_sentences_name_are_options():
    taken = {
        name.lstrip("-")
        for operation in OPERATIONS.values()
        for argument in arguments(operation.function).values()
        if argument.setting is not None
        for name in argument.setting.names(argument.name)
    }
    of_commands = (
        "address check corrected-by distance explain floor grades json list max-age no-results "
        "per-query port save sheet when-tied"
    )
    assert {*OPTIONS} - taken <= {*of_commands.split()}
