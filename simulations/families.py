"""Everything that one command marks, where nothing differs."""

from collections.abc import Callable, Iterator

import numpy as np

import calipers
from simulations.gates import METRICS
from simulations.held_out import SEED
from simulations.held_out_cases import FAMILIES, FAMILY_TAGS, equal_systems
from simulations.rates import Rate
from simulations.results import result


def _compared(rng: np.random.Generator, systems: int, n: int) -> bool:
    runs = equal_systems(rng, systems, n)
    found = calipers.compare(
        {f"s{at}": result(one, metrics=METRICS) for at, one in enumerate(runs)}
    )
    return any(one.verdict in ("better", "worse") for one in found.differences)


def _sliced(rng: np.random.Generator, _: int, n: int) -> bool:
    (values,) = equal_systems(rng, 1, n)
    found = calipers.slices(result(values, _tags(rng, n), METRICS), list(FAMILY_TAGS))
    return any(row.standing in ("above", "below") for row in found.rows)


def _gated(rng: np.random.Generator, _: int, n: int) -> bool:
    tags = _tags(rng, n)
    before, now = (result(one, tags, METRICS) for one in equal_systems(rng, 2, n))
    return calipers.gate(now, baseline=before, by=list(FAMILY_TAGS), only_shown=True).stops


def _tags(rng: np.random.Generator, n: int) -> dict[str, list[int]]:
    return {name: rng.integers(0, values, n).tolist() for name, values in FAMILY_TAGS.items()}


COMMANDS: dict[str, Callable[[np.random.Generator, int, int], bool]] = {
    "`compare`": _compared,
    "`slices` by two tags": _sliced,
    "`gate --only-shown` by two tags": _gated,
}


def marked(draws: int) -> Iterator[Rate]:
    """How often a command marks anything, recall@10 and ndcg@10 together."""
    for name, command in COMMANDS.items():
        for size, (systems, n) in FAMILIES.items():
            if name != "`compare`" and systems > 4:
                continue
            rng = np.random.default_rng([SEED, 15, n])
            found = sum(command(rng, systems, n) for _ in range(draws))
            column = size if name == "`compare`" else f"{n} queries"
            yield Rate(f"{name}: {column}", "marks anything", found / draws, draws, highest=0.06)
