"""What a diagnosis prints is kept: by its commands, by `sweep`, in every face, after a cure."""

import html
import json
import re
import shlex

import numpy as np
import pytest

import calipers
from calipers.cli.mcp import answer
from calipers.questions.diagnose.document import leak_line
from simulations.diagnoses import CERTAIN, LEAKS, healthy, records
from tests.command import calipers_command
from tests.web.served import served, shelf_of

WORLDS = {**{name: world.plant for name, world in (CERTAIN | LEAKS).items()}, "healthy": healthy}


def drawn(name, seed, *, n=40, good=True):
    return records(WORLDS[name], n, np.random.default_rng([seed, 91]), good=good)


def written(path, made):
    path.write_text("\n".join(map(json.dumps, made)), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", WORLDS)
def test_every_cure_with_an_option_gives_its_number(name, tmp_path):
    """By the option beside it, whatever cure it is; `then …` holds what came before it."""
    for seed, good in ((1, True), (2, False)):
        path = written(tmp_path / f"{seed}.jsonl", drawn(name, seed, good=good))
        diagnosis = json.loads(calipers_command("diagnose", path, "--json").out)
        for cure in diagnosis["cures"]:
            is_whole = cure["after"] in (None, "ids") or cure["name"] == "ids"
            if cure["option"] is None or (cure["after"] and not is_whole):
                continue
            if cure["name"] == "ids" and cure["after"] not in (None, "ids"):
                continue
            asked = ("eval", path, *shlex.split(cure["option"]), "--json")
            printed = calipers_command(*asked)
            assert printed.code == 0, printed.err
            means = {row["metric"]: row["mean"] for row in json.loads(printed.out)["summaries"]}
            for value in cure["values"]:
                if value["metric"] in means:
                    assert means[value["metric"]] == pytest.approx(value["after"], abs=1e-12)


@pytest.mark.parametrize("name", WORLDS)
def test_the_printed_command_gives_the_printed_number(name, tmp_path):
    path = written(tmp_path / "evals.jsonl", drawn(name, 3))
    printed = calipers_command("diagnose", path, columns=400).out
    command = re.search(r"^Try (?:it|a smaller k): calipers (.*)$", printed, re.MULTILINE)
    if command is None:
        return
    again = calipers_command(*shlex.split(command[1]), "--json")
    means = {row["metric"]: row["mean"] for row in json.loads(again.out)["summaries"]}
    promised = re.search(r"(\w+@\d+) is (\d\.\d+), not", printed)
    if promised is not None:
        assert f"{means[promised[1]]:.3f}" == promised[2]
    for k, share in re.findall(r"k = (\d+) finds (\d+)%", printed):
        if f"recall@{k}" in means:
            assert f"{means[f'recall@{k}']:.0%}" == f"{share}%"


@pytest.mark.parametrize("seed", range(12))
def test_sweep_and_diagnose_name_the_same_k(seed):
    rng = np.random.default_rng([seed, 92])
    names = sorted(WORLDS)
    name = names[int(rng.integers(len(names)))]
    made = drawn(name, seed, n=int(rng.integers(12, 90)), good=bool(rng.integers(2)))
    k = int(rng.integers(1, 20))
    diagnosis = calipers.diagnose(made, k=k)
    swept = calipers.sweep(made)
    words = f"{diagnosis.sentence} {diagnosis.gap} {diagnosis.next}"
    named = re.findall(r"k = (\d+)", words)
    named += [str(cure.k) for cure in diagnosis.cures if cure.name.endswith("_k")]
    advised = swept.recall.best_guess
    assert {int(number) for number in named} <= {k, advised}
    for cure in diagnosis.cures:
        if cure.name.endswith("_k"):
            assert cure.values[0].after == pytest.approx(swept.recall.best_guess_recall)


@pytest.mark.parametrize("name", WORLDS)
def test_what_python_shows_names_no_option(name):
    """But for whole commands: keywords, in the first line, the tables and the notes."""
    for good in (True, False):
        diagnosis = calipers.diagnose(drawn(name, 5, good=good), price=2.0)
        page = re.sub(r"(?s)<style>.*?</style>|<code>.*?</code>", "", diagnosis._repr_html_())
        for face in (str(diagnosis), html.unescape(re.sub(r"<[^>]+>", " ", page))):
            prose = re.sub(r"`[^`]*`", "", face)
            assert re.search(r"(?<![\w-])--?[a-z]", prose) is None, prose


def test_python_is_told_to_give_a_keyword():
    made = [
        {"query": f"q{n}", "retrieved": [f"x{n}-{at}" for at in range(10)], "ground_truth": ["t"]}
        for n in range(20)
    ]
    shown = str(calipers.diagnose(made, nothing_in_common="zero"))
    assert "give corpus= or candidates= to see why" in " ".join(shown.split())


CURED = {
    "ids": lambda shown: [name.removeprefix("idx2:") for name in shown],
    "reverse": lambda shown: shown[::-1],
    "repeated_ids": lambda shown: list(dict.fromkeys(shown)),
    "hub": lambda shown: [name for name in shown if not name.endswith("cover page")],
}


@pytest.mark.parametrize(
    "names", [("prefix", "reversed"), ("ids repeated", "reversed"), ("prefix", "hub")]
)
@pytest.mark.parametrize("seed", range(2))
def test_of_two_faults_the_other_is_named_once_the_first_is_cured(names, seed):
    rng = np.random.default_rng([seed, 93])
    plants = [WORLDS[name] for name in names]
    expected = {*(name for world in names for name in CERTAIN[world].named)}

    def both(rng, asked):
        made = plants[0](rng, asked)
        return plants[1](rng, type(asked)(asked.number, asked.targets, made["retrieved"]))

    made = records(both, 120, rng)
    first = calipers.diagnose(made).named
    assert first in expected
    cured = [{**row, "retrieved": CURED[first](row["retrieved"])} for row in made]
    assert calipers.diagnose(cured).named == (expected - {first}).pop()
    twice = (expected - {first}).pop()
    well = [{**row, "retrieved": CURED[twice](row["retrieved"])} for row in cured]
    assert calipers.diagnose(well).named not in expected


@pytest.mark.parametrize("name", ["prefix", "one tag fails", "late", "cut by chunks"])
def test_report_page_and_agent_show_the_same_document(name, tmp_path):
    path = written(tmp_path / "evals.jsonl", drawn(name, 4, n=120))
    diagnosis = calipers.diagnose(str(path))
    report = calipers.report(str(path)).to_html()
    with served(shelf_of(str(tmp_path / "history.db"), evals=calipers.read(str(path)))) as running:
        page = running.visitor().get("/evaluations/evals/report").text
    for face in (report, page):
        plain = html.unescape(re.sub(r"<[^>]+>", "", face))
        assert diagnosis.sentence in plain
        assert leak_line(diagnosis.leak) in plain
        for cure in diagnosis.cures:
            assert cure.title in plain
    told = answer("diagnose", {"data": str(path)})
    assert told["answer"] == diagnosis.sentence
    titles = [row[0] for row in told["tables"][0]["rows"]]
    assert titles == [cure.title for cure in diagnosis.cures]
    assert [leak_line(diagnosis.leak)] in told["tables"][1]["rows"]
