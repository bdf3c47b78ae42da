"""Every operation is declared once, and all faces show it: command, docs, the same JSON."""

import importlib
import inspect
import json
import re
from pathlib import Path
from typing import get_args

import pytest

import calipers
from calipers.cli import every_command
from calipers.errors import CalipersError
from calipers.operations import OPERATIONS
from tests.command import calipers_command
from tests.questions.json_schemas import held
from tests.questions.live_samples import LIVE_SAMPLES
from tests.questions.samples import SAMPLES
from tests.worlds.check import numbers_of

DOCS = Path(__file__).parents[2] / "docs"
COMMANDS = every_command()


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_a_public_name_has_its_command_and_page_and_types(name):
    operation = OPERATIONS[name]
    assert name in calipers.__all__
    assert getattr(calipers, name) is operation.function
    places = {one.stem for one in Path(calipers.__file__).parent.iterdir()}
    assert name not in places, "a room of the same name hides it"
    assert operation.command is None or operation.command in COMMANDS
    # One word on both sides: who knows the command knows the function.
    page = (DOCS / f"{operation.page}.md").read_text(encoding="utf-8")
    said = rf"\b(calipers\.)?{name}\(|calipers {operation.command or name}\b"
    assert re.search(said, page), operation.page
    for parameter in inspect.signature(operation.function).parameters.values():
        assert parameter.kind is not parameter.VAR_POSITIONAL
        if parameter.kind is parameter.VAR_KEYWORD:
            (keywords,) = get_args(parameter.annotation)
            assert keywords.__annotations__, f"{name} takes **{parameter.name}: {keywords}"
        else:
            assert parameter.annotation is not parameter.empty, (name, parameter.name)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_mistyped_argument_gets_the_nearest_one(name):
    parameters = inspect.signature(OPERATIONS[name].function).parameters
    known = next(reversed([n for n, p in parameters.items() if p.kind is not p.VAR_KEYWORD]), None)
    wrong = f"{known or 'argument'}x"
    with pytest.raises(CalipersError, match=f"{name} takes no argument '{wrong}'") as caught:
        OPERATIONS[name].function(**{wrong: 1})
    assert known is None or f"Did you mean {known}?" in str(caught.value)


WITH_COMMAND = [one for one in OPERATIONS if OPERATIONS[one].command]


@pytest.mark.parametrize("name", WITH_COMMAND)
def test_command_and_function_give_the_same(name, tmp_path, monkeypatch):
    samples = {**SAMPLES, **LIVE_SAMPLES}
    assert name in samples, f"tests/questions/samples.py has no call of {name}; add one"
    sample = samples[name]
    enter(tmp_path / "library", sample, monkeypatch)
    result = sample.call()
    returned = sample.plain(result)
    expected = sample.comparable(returned), sample.comparable(sample.left())
    assert expected != (None, None), "nothing is compared"
    enter(tmp_path / "command", sample, monkeypatch)
    arguments = (one.replace("{folder}", str(tmp_path / "command")) for one in sample.arguments)
    printed = calipers_command(*OPERATIONS[name].command.split(), *arguments)
    assert printed.code == 0, printed.err
    found = None if returned is None else json.loads(printed.out)
    if found is not None:
        held(name, found, result)
        if sample.part is None and "schema" not in returned:
            del found["schema"]
    assert unbacked(found) == []
    found = found[sample.part] if sample.part else found
    assert (sample.comparable(found), sample.comparable(sample.left())) == expected


def unbacked(found):
    """The numbers in what an operation says that are none of its facts."""
    if not isinstance(found, dict):
        return []
    return [problem for one in found.get("sentences", ()) for problem in numbers_of(one)]


def enter(folder, sample, monkeypatch):
    """A folder with what the sample needs, as the current one."""
    folder.mkdir()
    monkeypatch.chdir(folder)
    sample.prepare()


def with_confidence():
    """All but a sample, which is drawn question by question, and a floor."""
    for name, operation in OPERATIONS.items():
        parameters = inspect.signature(operation.function).parameters
        if "confidence" in parameters and name not in ("labels_sample", "floor"):
            yield name


@pytest.mark.parametrize("name", list(with_confidence()))
def test_whatever_has_a_confidence_takes_clusters(name):
    operation = OPERATIONS[name]
    assert "cluster" in inspect.signature(operation.function).parameters
    assert operation.command is not None
    assert "cluster" in {option.name for option in COMMANDS[operation.command].params}


@pytest.mark.parametrize("name", OPERATIONS)
def test_help_names_only_types_that_exist(name: str) -> None:
    """A type that is not imported for its keyword must still be named by where it is."""
    shown = str(inspect.signature(OPERATIONS[name].function))
    named = set(re.findall(r"\b[a-z_]+(?:\.\w+)+", shown))
    for type_name in named:
        module, _, attribute = type_name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), type_name
