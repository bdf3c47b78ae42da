"""Building the retriever of a combination."""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput
from calipers.live.adapters.base import Retriever
from calipers.live.adapters.recognise import as_retriever, find, load_target
from calipers.live.adapters.secrets import Secrets, without_secrets
from calipers.live.code import code_of
from calipers.questions.grid.result import Combination


def check_functions(combinations: Iterable[Combination], folder: Path) -> None:
    """Every function exists and takes its parameters: said before the first question is asked."""
    for one in combinations:
        if one.is_factory:
            _check_call(_factory(one, folder), one)
        else:
            Workshop(folder).build(one)


def code_of_combination(one: Combination, folder: Path) -> Mapping[str, str]:
    """The fingerprint of each file that its retriever is written in; nothing is made for it."""
    if one.is_factory:
        return code_of(*load_target(_target(one, folder)))
    return Workshop(folder).build(one).code


class _InErrorsOnly(Secrets):
    """A parameter that looks secret may be a plain word, so answers keep what they say."""

    def redact_line(self, line: bytes) -> bytes:
        """The answer as it is: a function does not echo what it was made with."""
        return line


def _hiding(values: list[str]) -> Secrets:
    secrets = _InErrorsOnly()
    secrets.add(*values)
    return secrets


class Workshop:
    """Builds retrievers. What differs in k alone is built once, as an index may take hours."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last: tuple[str, Mapping[str, Any]] | None = None
        self._searcher: Any = None

    def build(self, combination: Combination) -> Retriever:
        """The retriever of a combination; a factory is called with its parameters now."""
        shown = without_secrets(combination.params)
        hidden = [str(value) for n, value in combination.params.items() if shown[n] != value]
        if combination.is_factory:
            code = code_of_combination(combination, self._folder)
            made = replace(as_retriever(self._made(combination, hidden)), code=code)
        else:
            params = {"params": dict(combination.params)} if combination.params else {}
            made = as_retriever(_target(combination, self._folder), **params)
        if hidden:
            made = replace(made, secrets=_hiding(hidden))
        return replace(made, name=combination.name, settings=combination.settings)

    def _made(self, combination: Combination, hidden: list[str]) -> Any:
        wanted = (combination.target, combination.params)
        if self._last == wanted:
            return self._searcher
        # The old one is freed first: two indexes may not fit into memory.
        self._last = self._searcher = None
        try:
            self._searcher = _factory(combination, self._folder)(**combination.params)
        except Exception as error:  # a user's factory may raise anything
            secrets = _hiding(hidden)
            raise InvalidInput(
                f"The retriever {combination.name!r} cannot be made: {combination.target} raises "
                f"{type(error).__name__}: {secrets.redact(str(error))[:300]}"
            ) from error
        self._last = wanted
        return self._searcher


def _factory(combination: Combination, folder: Path) -> Callable[..., Any]:
    found = find(_target(combination, folder))
    if not callable(found):
        raise InvalidInput(
            f"{combination.target} of the retriever {combination.retriever!r} is a "
            f"{type(found).__name__}; 'make' names a function that returns the search function."
        )
    function: Callable[..., Any] = found
    return function


def _target(combination: Combination, folder: Path) -> str:
    here = str(folder.resolve())
    if here not in sys.path:
        sys.path.insert(0, here)
    place, _, attribute = combination.target.rpartition(":")
    if place.endswith(".py") and not place.startswith(("http:", "https:", "cmd:")):
        return f"{folder / place}:{attribute}"
    return combination.target


def _check_call(function: Callable[..., Any], one: Combination) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(**one.params)
    except TypeError as error:
        takes = ", ".join(signature.parameters) or "nothing"
        raise InvalidInput(
            f"The retriever {one.name!r} cannot be made: {one.target} does not take its "
            f"parameters ({error}); it takes {takes}."
        ) from None
