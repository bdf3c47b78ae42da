"""A fusion as configuration for search engines, by their documented formulas.

Only what gives the same order is written. OpenSearch's z_score raises what is below the mean, and
Qdrant's weights divide ranks instead of multiplying scores, so both are left out.
"""

import json
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


def snippets(setting: FusedSetting) -> dict[str, str]:
    """The configuration by engine, for those that support the setting."""
    if setting.kind not in ("rrf", "sum", "mnz"):
        return {}
    found = {"python": _python(setting)}
    if setting.kind == "rrf":
        found |= _rrf(setting)
    elif setting.kind == "sum" and setting.norm == "min-max":
        found |= _min_max(setting)
    return found


def _python(setting: FusedSetting) -> str:
    value, *before = _VALUES[setting.norm]
    weights = {name: round(weight, 4) for name, weight in setting.weights.items()}
    mnz = setting.kind == "mnz"
    lines = [
        "def fuse(lanes, k=10):",
        '    """Scores by lane and id: the ids, best first."""',
        f"    weights = {weights}",
        "    fused = {}",
        "    for name, scores in lanes.items():",
        *(f"        {line}" for line in before),
        "        ranked = sorted(scores, key=scores.get, reverse=True)",
        "        for rank, item in enumerate(ranked, 1):",
        f"            value = weights[name] * {value.format(constant=setting.constant)}",
        "            fused[item] = fused.get(item, 0) + value",
        *(["    for item in fused:"] if mnz else []),
        *(["        fused[item] *= sum(item in scores for scores in lanes.values())"] * mnz),
        "    return sorted(fused, key=fused.get, reverse=True)[:k]",
    ]
    return "\n".join(lines)


def _rrf(setting: FusedSetting) -> dict[str, str]:
    """Reciprocal rank fusion: weight / (constant + rank), with ranks from 1."""
    weights, constant = setting.weights, setting.constant or 0
    even = len(set(weights.values())) == 1
    found = {
        # The `rrf` retriever supports weight since 9.2.
        "elasticsearch": _json(
            {"retriever": {"rrf": {"rank_constant": constant, "retrievers": _lanes(setting)}}}
        ),
        "opensearch": _processor(
            "score-ranker-processor",
            {"technique": "rrf", "rank_constant": constant, **_weights(setting)},
        ),
        "vespa": " + ".join(
            f"{'' if even else f'{weight:.4g} * '}reciprocal_rank({name}, {constant}.0)"
            for name, weight in weights.items()
        ),
    }
    if even:
        # Qdrant counts ranks from 0: its k is one more than the constant.
        found["qdrant"] = _json({"query": {"rrf": {"k": constant + 1}}})
    if constant == _WEAVIATE and len(weights) == _TWO:
        found["weaviate"] = (
            f"# Weaviate counts ranks from 0: this is RRF {_WEAVIATE - 1}.\n"
            f"hybrid(query, alpha={_alpha(setting)}, fusion_type=HybridFusion.RANKED)"
        )
    return found


def _min_max(setting: FusedSetting) -> dict[str, str]:
    """Weighted sums of scores, brought between 0 and 1."""
    found = {
        "elasticsearch": _json(
            {"retriever": {"linear": {"retrievers": _lanes(setting, normalizer="minmax")}}}
        ),
        "opensearch": _processor(
            "normalization-processor",
            {"technique": "arithmetic_mean", **_weights(setting)},
            normalization={"technique": "min_max"},
        ),
        "vespa": " + ".join(
            f"{weight:.4g} * normalize_linear({name})" for name, weight in setting.weights.items()
        ),
    }
    if len(setting.weights) == _TWO:
        found["weaviate"] = (
            f"hybrid(query, alpha={_alpha(setting)}, fusion_type=HybridFusion.RELATIVE_SCORE)"
        )
    return found


def _alpha(setting: FusedSetting) -> str:
    """The weight of the vectors, which are the second lane."""
    return f"{list(setting.weights.values())[-1]:.4g}"


def _lanes(setting: FusedSetting, **more: str) -> list[dict[str, Any]]:
    return [
        {"retriever": {"standard": {"query": {"...": name}}}, "weight": round(weight, 4), **more}
        for name, weight in setting.weights.items()
    ]


def _weights(setting: FusedSetting) -> dict[str, Any]:
    return {"parameters": {"weights": [round(one, 4) for one in setting.weights.values()]}}


def _processor(name: str, combination: dict[str, Any], **more: Any) -> str:
    return _json({"phase_results_processors": [{name: {**more, "combination": combination}}]})


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)
