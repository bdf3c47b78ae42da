"""The decorator that makes a function a metric, and the registry it fills."""

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Literal, get_type_hints

import calipers.plugins as plugins
from calipers.frozen import dataclass
from calipers.measures.parameter import Parameter
from calipers.model.arrays import Floats

Aggregate = Literal["mean", "sum"]
Better = Literal["higher", "lower", "neither"]
Cutoff = Literal["required", "optional", "none"]


@dataclass(frozen=True, eq=False)
class Definition:
    """Everything there is to know about one metric."""

    name: str
    function: Callable[..., Floats]
    better: Better
    bounds: tuple[float, float | None]
    aliases: tuple[str, ...]
    without_targets: Literal["undefined", "defined"]
    aggregate: Aggregate = "mean"
    """How the values of queries become one number for all of them."""
    takes_parts: bool = False
    """Whether other metrics with their weights stand in its parentheses."""

    # The function's signature is read on first access: an evaluation uses few of the
    # metrics.

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.function, include_extras=True)

    @cached_property
    def _signature(self) -> list[inspect.Parameter]:
        return list(inspect.signature(self.function).parameters.values())

    @cached_property
    def view(self) -> Any:
        """What the values are computed from: the annotation of the first parameter."""
        return self._hints[self._signature[0].name]

    @cached_property
    def cutoff(self) -> Cutoff:
        """Whether the name takes a cut-off."""
        k = next(
            (parameter for parameter in self._signature if parameter.name == "k"), None
        )
        if k is None:
            return "none"
        return "required" if k.default is inspect.Parameter.empty else "optional"

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters of the function and of its view, by name."""
        own = {
            parameter.name: Parameter.of(parameter, self._hints[parameter.name])
            for parameter in self._signature[1:]
            if parameter.name != "k"
        }
        return dict(sorted({**own, **_view_parameters(self.view)}.items()))

    @cached_property
    def view_parameters(self) -> frozenset[str]:
        """The names of the view's parameters."""
        return frozenset(_view_parameters(self.view))

    @property
    def summary(self) -> str:
        """The formula in words: the first paragraph of the docstring."""
        return self._paragraphs()[0]

    @property
    def notes(self) -> str:
        """The rest of the docstring: edge cases and what others call it."""
        return "\n\n".join(self._paragraphs()[1:])

    def _paragraphs(self) -> list[str]:
        text = (inspect.getdoc(self.function) or "").replace("``", "`")
        return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]

    @property
    def grammar(self) -> str:
        """How the name is written: ``ndcg[@k](gain=linear)``."""
        k = {"required": "@k", "optional": "[@k]", "none": ""}[self.cutoff]
        words = (
            f"{p.name}={'' if p.default is None else p.default}"
            for p in self.parameters.values()
        )
        inside = "metric=weight,…" if self.takes_parts else ",".join(words)
        return f"{self.name}{k}" + (f"({inside})" if inside else "")

    def to_dict(self) -> dict[str, Any]:
        """The metric as plain values."""
        return {
            "name": self.name,
            "grammar": self.grammar,
            "formula": self.summary,
            "notes": self.notes,
            "cutoff": self.cutoff,
            "parameters": {
                p.name: {"default": p.default, "allowed": p.allowed}
                for p in self.parameters.values()
            },
            "better": self.better,
            "bounds": list(self.bounds),
            "also_called": list(self.aliases),
        }


_DEFINITIONS: dict[str, Definition] = {}
_ALIASES: dict[str, str] = {}


def metric(
    *,
    better: Better,
    bounds: tuple[float, float | None] = (0, 1),
    also: tuple[str, ...] = (),
    without_targets: Literal["undefined", "defined"] = "undefined",
    aggregate: Aggregate = "mean",
    name: str | None = None,
    takes_parts: bool = False,
) -> Callable[[Callable[..., Floats]], Callable[..., Floats]]:
    """Register a function as the metric of its own name, or of ``name``.

    The first parameter's annotation names the view; ``k`` makes it take a cut-off
    (optional where it has a default); every further parameter, and those of the view,
    become grammar. ``also`` lists the names other tools use. ``without_targets`` says
    whether the value of a query without anything relevant is decided by policy
    (undefined) or by the function (defined).
    """

    def register(function: Callable[..., Floats]) -> Callable[..., Floats]:
        called = name or function.__name__
        for taken in (called, *also):
            if taken in _DEFINITIONS or taken in _ALIASES:
                raise ValueError(f"two metrics answer to {taken!r}")
        definition = Definition(
            called,
            function,
            better,
            bounds,
            also,
            without_targets,
            aggregate,
            takes_parts,
        )
        if not function.__module__.startswith("calipers."):
            # Raise for a wrong signature here, where the metric is defined.
            _ = definition.parameters
        _DEFINITIONS[called] = definition
        _ALIASES.update(dict.fromkeys(also, called))
        return function

    return register


@cache
def _view_parameters(view: Any) -> dict[str, Parameter]:
    """The parameters of a view, cached: there are few views and many metrics."""
    hints = get_type_hints(view.of, include_extras=True)
    signature = list(inspect.signature(view.of).parameters.values())
    return {p.name: Parameter.of(p, hints[p.name]) for p in signature[1:]}


@cache
def load_plugged() -> None:
    """Register the metrics of other packages: their entry points name decorated functions."""
    for entry, function in plugins.found(plugins.METRICS).items():
        if not any(
            function is definition.function for definition in _DEFINITIONS.values()
        ):
            plugins.warn(
                plugins.METRICS,
                entry,
                "it is no function with the decorator of calipers.measures",
            )


def find_definition(names: Sequence[str]) -> tuple[str, Definition] | None:
    """The first of these names that a metric has, with that metric.

    Metrics of other packages are loaded only where none of ours matches.
    """
    for load in (None, load_plugged):
        if load is not None:
            load()
        for name in names:
            if (definition := _DEFINITIONS.get(_ALIASES.get(name, name))) is not None:
                return name, definition
    return None


def definitions() -> Mapping[str, Definition]:
    """Every registered metric by name; those of other packages once they are loaded."""
    return types.MappingProxyType(_DEFINITIONS)


def aliases() -> Mapping[str, str]:
    """The names other tools use, each with ours."""
    return types.MappingProxyType(_ALIASES)
