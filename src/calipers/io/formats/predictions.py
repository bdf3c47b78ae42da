"""Results by query inside of other objects: predictions of MTEB, or those of a named system."""

from collections.abc import Mapping
from itertools import islice

from calipers.errors import InvalidInput
from calipers.io.files.probe import Probe
from calipers.io.format import Format
from calipers.io.formats.mapping import read_mapping
from calipers.io.records.documents import is_number
from calipers.io.records.json_files import MOST_COLUMNS, opened
from calipers.io.records.layout import side_of
from calipers.io.records.mapped_parts import parts_by_query
from calipers.model.matched import Dataset, Role
from calipers.names import possible_meaning

_SOME = 50
"""Queries that are looked at."""
_DEEPEST = 3
"""How many objects may stand around the queries."""
_WORDS_OF_NAME = 3
Runs = dict[str, Mapping[str, object]]
"""Mappings of query to document to score, by their paths."""


class Predictions(Format):
    """Predictions of MTEB: scores by document, by query, by split, by subset."""

    name = "mteb_predictions"
    title = "predictions of MTEB"
    example = '{"default": {"test": {"query": {"document": 0.5}}}}'
    only = "run"
    _META = "mteb_model_meta"

    def detect(self, probe: Probe) -> bool:
        """Objects of objects around a mapping of query to document to score."""
        look = probe.look
        if look is None or look.shape != "object" or len(look.first) > MOST_COLUMNS:
            return False
        if parts_by_query(probe) is not None:
            return False
        value = {
            key: opened(held) for key, held in look.first.items() if key != self._META
        }
        if _lists_of_systems(value):
            return True
        return bool(value) and bool(self._runs(value)) and not _is_scored(value)

    def _runs(self, value: object, before: str = "", depth: int = 0) -> Runs:
        """Every mapping of query to document to score, with its path."""
        if not isinstance(value, Mapping) or not value or depth > _DEEPEST:
            return {}
        if _is_scored(value):
            return {before: value}
        runs: Runs = {}
        for key, held in value.items():
            if key != self._META:
                inner = self._runs(held, f"{before}.{key}".lstrip("."), depth + 1)
                if not inner:
                    return {}
                runs |= inner
        return runs

    def read(self, probe: Probe, role: Role) -> Dataset:
        """The run of the one subset and split."""
        if probe.look is None or not self.detect(probe):
            raise InvalidInput(
                f"{probe.name} cannot be read as {self.title}: {self.example}."
            )
        whole = {key: opened(held) for key, held in probe.look.first.items()}
        systems = _lists_of_systems(whole)
        runs = systems or self._runs(whole)
        if len(runs) > 1:
            raise InvalidInput(
                f"{probe.name} holds the "
                f"{'results of several systems' if systems else 'predictions of several splits'}: "
                f"{', '.join(runs):.200}; give a file with one of them."
            )
        [(named, scores)] = runs.items()
        if role != "run":
            raise InvalidInput(
                f"{probe.name} holds {f'the rankings of {named}' if systems else self.title}, "
                "which are results; give it as --run, and the judgements as --ground-truth (run= "
                "and ground_truth= in Python)."
            )
        return read_mapping(scores, "run", probe.name)


def _lists_of_systems(value: Mapping[str, object]) -> Runs:
    """The mappings of query to ids by the name of a system; empty if it is another object.

    Each system answers the same queries, more than there are systems, and nothing is named like a
    part of a record.
    """
    systems = {
        name: held
        for name, held in value.items()
        if isinstance(held, Mapping) and all(map(_lists_ids, held.values()))
    }
    first = next(iter(systems.values()), {})
    if len(systems) < len(value) or len(first) <= len(systems):
        return {}
    if any(held.keys() != first.keys() for held in systems.values()):
        return {}
    named = (*value, *first)
    # A question may hold any word; a name is short.
    short = [name for name in named if len(name.split()) <= _WORDS_OF_NAME]
    is_part = any(side_of(name) or possible_meaning(name) for name in short)
    return {} if is_part else systems


def _lists_ids(value: object) -> bool:
    """Whether a value is a list of ids."""
    return isinstance(value, list) and all(isinstance(held, str | int) for held in value)


def _is_scored(value: Mapping[str, object]) -> bool:
    """Whether a mapping has numbers by document for every query, judged by the first ones."""
    first = [*islice(value.values(), _SOME)]
    return bool(first) and all(
        isinstance(held, Mapping) and held and all(map(is_number, held.values()))
        for held in first
    )
