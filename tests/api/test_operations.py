"""The package of operations: everything is there, and nothing is loaded before its time."""

import importlib
import subprocess
import sys
from types import FunctionType

import pytest

from calipers import api


@pytest.mark.parametrize("name", api.__all__)
def test_every_operation_is_a_function(name):
    assert isinstance(getattr(api, name), FunctionType)


def test_importing_a_module_does_not_hide_the_function_of_the_same_name():
    importlib.reload(importlib.import_module("calipers.api.metrics"))
    assert isinstance(api.metrics, FunctionType)


def test_one_operation_does_not_load_the_others():
    code = (
        "import sys; from calipers import api; api.evaluate; "
        "print(*(name for name in sys.modules if name.startswith('calipers.api.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    needed = {f"calipers.api.{name}" for name in ("evaluate", "inputs", "prepare")}
    assert set(loaded.split()) == needed


def test_an_unknown_operation_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        api.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_the_names_are_sorted_and_listed():
    assert dir(api) == sorted(api.__all__)
