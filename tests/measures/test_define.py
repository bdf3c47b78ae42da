"""A metric is defined once, and everything about it comes from there."""

from pathlib import Path

import pytest

import calipers.measures
from calipers.measures import definitions
from calipers.measures.define import aliases, metric
from calipers.measures.views import Found


@pytest.mark.parametrize("definition", definitions().values(), ids=definitions().keys())
def test_a_definition_says_everything(definition) -> None:
    assert definition.summary.endswith((".", ":")), "a formula in words, as a sentence"
    assert definition.better in ("higher", "lower", "neither")
    low, high = definition.bounds
    assert high is None or low < high
    assert definition.cutoff in ("required", "optional", "none")
    # set_F has trec_eval's own name.
    assert definition.name == definition.name.lower() or definition.name == "set_F"
    assert not set(definition.aliases) & set(definitions())


def test_no_name_is_taken_twice() -> None:
    names = [name for d in definitions().values() for name in (d.name, *d.aliases)]
    assert len(names) == len(set(names))
    assert set(names) == set(definitions()) | set(aliases())


def test_a_taken_name_is_refused() -> None:
    def recall(found: Found, k: int):
        return found.hits(k)

    with pytest.raises(ValueError, match="two metrics answer to 'recall'"):
        metric(better="higher")(recall)
    with pytest.raises(ValueError, match="two metrics answer to 'hole'"):
        metric(better="higher", also=("hole",))(test_a_taken_name_is_refused)


def test_a_signature_that_says_no_view_is_refused_at_once() -> None:
    def nameless(found, k: int):
        return found.hits(k)

    with pytest.raises(KeyError):
        metric(better="higher")(nameless)
    assert "nameless" not in definitions()


def test_every_module_that_defines_a_metric_is_loaded() -> None:
    folder = Path(calipers.measures.__file__).parent
    defining = {path.stem for path in folder.glob("*.py") if "\n@metric(" in path.read_text()}
    ours = {one.function.__module__ for one in definitions().values()}
    assert {f"calipers.measures.{name}" for name in defining} <= ours
