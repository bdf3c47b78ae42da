"""A fusion as configuration for search engines, by their documented formulas.

Only what gives the same order is written. OpenSearch's z_score raises what is below the mean, and
Qdrant's weights divide ranks instead of multiplying scores, so both are left out.
"""

import json
from collections.abc import Collection
from typing import Any

from calipers.questions.fuse.result import FusedSetting

_VALUES: dict[str | None, tuple[str, ...]] = {
    None: ("1 / ({constant} + rank)",),
    "rank": ("(1 - (rank - 1) / len(scores))",),
    "min-max": (
        "(scores[item] - low) / max(high - low, 1e-9)",
        "low, high = min(scores.values()), max(scores.values())",
    ),
    "z": (
        "(scores[item] - mean) / max(spread, 1e-9)",
        "mean = sum(scores.values()) / len(scores)",
        "spread = (sum((one - mean) ** 2 for one in scores.values()) / len(scores)) ** 0.5",
    ),
}
"""For plain Python: the value of a result in a lane, and what it is computed from."""
_TWO = 2
_WEAVIATE = 60
"""The constant of Weaviate, which cannot be changed."""


def snippets(setting: FusedSetting, distances: Collection[str] = ()) -> dict[str, str]:
    """The configuration by engine, for those that support the setting.

    The scores of the lanes ``distances`` rise down their lists.
    """
    kind = setting.kind
    norm = setting.norm
    constant = setting.constant
    if kind not in ("rrf", "sum", "mnz"):
        return {}
    weights = {name: round(weight, 4) for name, weight in setting.weights.items()}
    found = {"python": _python(setting, weights, distances)}
    alpha = f"{[*weights.values()][-1]:.4g}"  # the weight of the vectors, the second lane
    hybrid = "hybrid(query, alpha={}, fusion_type=HybridFusion.{})"
    if kind == "rrf":
        # Weight / (constant + rank), with ranks from 1. Elasticsearch takes weights since 9.2.
        even = len(set(weights.values())) == 1
        found["elasticsearch"] = _retriever("rrf", weights, {"rank_constant": constant})
        found["opensearch"] = _processor(
            "score-ranker-processor",
            {"technique": "rrf", "rank_constant": constant},
            weights,
        )
        found["vespa"] = " + ".join(
            f"{'' if even else f'{weight:.4g} * '}reciprocal_rank({name}, {constant}.0)"
            for name, weight in weights.items()
        )
        if even:
            # Qdrant counts ranks from 0: its k is one more than the constant.
            found["qdrant"] = _json({"query": {"rrf": {"k": (constant or 0) + 1}}})
        if constant == _WEAVIATE and len(weights) == _TWO:
            note = f"# Weaviate counts ranks from 0: this is RRF {_WEAVIATE - 1}.\n"
            found["weaviate"] = note + hybrid.format(alpha, "RANKED")
    elif kind == "sum" and norm == "min-max":
        found["elasticsearch"] = _retriever("linear", weights, {}, normalizer="minmax")
        found["opensearch"] = _processor(
            "normalization-processor",
            {"technique": "arithmetic_mean"},
            weights,
            normalization={"technique": "min_max"},
        )
        found["vespa"] = " + ".join(
            f"{weight:.4g} * normalize_linear({name})" for name, weight in weights.items()
        )
        if len(weights) == _TWO:
            found["weaviate"] = hybrid.format(alpha, "RELATIVE_SCORE")
    return found


def _python(
    setting: FusedSetting, weights: dict[str, float], distances: Collection[str]
) -> str:
    """A function that fuses; ranks are the places in the lists, as they were measured."""
    value, *before = _VALUES[setting.norm]
    mnz = setting.kind == "mnz"
    by_score = bool(before)
    turned = [name for name in weights if name in distances] if by_score else []
    turning = [
        f"        if name in {turned}:  # distances",
        "            scores = {item: -far for item, far in scores.items()}",
    ]
    lists = "Scores by lane and id" if by_score else "Ids by lane"
    lines = [
        "def fuse(lanes, k=10):",
        f'    """{lists}, the best first: the fused ids, the best first."""',
        f"    weights = {weights}",
        "    fused = {}",
        "    for name, scores in lanes.items():",
        *(turning if turned else []),
        *(f"        {line}" for line in before),
        "        for rank, item in enumerate(scores, 1):",
        f"            value = weights[name] * {value.format(constant=setting.constant)}",
        "            fused[item] = fused.get(item, 0) + value",
        *(["    for item in fused:"] if mnz else []),
        *(
            ["        fused[item] *= sum(item in scores for scores in lanes.values())"]
            * mnz
        ),
        "    return sorted(fused, key=fused.get, reverse=True)[:k]",
    ]
    return "\n".join(lines)


def _retriever(kind: str, weights: dict[str, float], settings: Any, **more: str) -> str:
    lanes = [
        {"retriever": {"standard": {"query": {"...": name}}}, "weight": weight, **more}
        for name, weight in weights.items()
    ]
    return _json({"retriever": {kind: {**settings, "retrievers": lanes}}})


def _processor(
    name: str, how: dict[str, object], weights: dict[str, float], **more: object
) -> str:
    combination = {**how, "parameters": {"weights": [*weights.values()]}}
    return _json(
        {"phase_results_processors": [{name: {**more, "combination": combination}}]}
    )


def _json(value: object) -> str:
    return json.dumps(value, indent=2)
