"""A fusion as configuration for search engines, by their documented formulas."""

import json

from calipers.questions.fuse.result import FusedSetting

_PYTHON = '''def fuse(lanes, k=10):
    """Rankings by lane, {weights}: ids with the best first."""
    weights = {weights}
    scores = {{}}
    for name, ranking in lanes.items():
        for rank, item in enumerate(ranking, 1):
            scores[item] = scores.get(item, 0) + weights[name] / ({constant} + rank)
    return sorted(scores, key=scores.get, reverse=True)[:k]'''


def snippets(setting: FusedSetting) -> dict[str, str]:
    """The configuration by engine, for those that support the setting."""
    if setting.kind == "rrf":
        return _rrf(setting)
    if setting.kind == "sum" and setting.norm in ("min-max", "z"):
        return _sum(setting)
    return {}


def _rrf(setting: FusedSetting) -> dict[str, str]:
    """Reciprocal rank fusion: 1 / (constant + rank), weighted if the engine supports it."""
    weights, constant = dict(setting.weights), setting.constant
    even = len(set(weights.values())) == 1
    lanes = [
        {"retriever": {"standard": {"query": {"...": name}}}, "weight": round(weight, 4)}
        for name, weight in weights.items()
    ]
    found = {
        "python": _PYTHON.format(weights=weights, constant=constant),
        # The `rrf` retriever supports weight since 9.2.
        "elasticsearch": json.dumps(
            {"retriever": {"rrf": {"rank_constant": constant, "retrievers": lanes}}}, indent=2
        ),
        "opensearch": json.dumps(
            {
                "phase_results_processors": [
                    {
                        "score-ranker-processor": {
                            "combination": {
                                "technique": "rrf",
                                "rank_constant": constant,
                                "parameters": {"weights": [round(w, 4) for w in weights.values()]},
                            }
                        }
                    }
                ]
            },
            indent=2,
        ),
        "vespa": " + ".join(
            f"{'' if even else f'{weight:.4g} * '}reciprocal_rank({name}, {constant}.0)"
            for name, weight in weights.items()
        ),
    }
    if even:
        # Qdrant counts ranks from 0: its k is one more than the constant of the formula.
        found["qdrant"] = json.dumps({"query": {"rrf": {"k": (constant or 0) + 1}}}, indent=2)
        if constant == 60:
            found["weaviate"] = "hybrid(query, fusion_type=HybridFusion.RANKED)"
    return found


def _sum(setting: FusedSetting) -> dict[str, str]:
    """Weighted sums of normalised scores."""
    weights = dict(setting.weights)
    norm = {"min-max": "min_max", "z": "z_score"}[setting.norm or "min-max"]
    found = {
        "opensearch": json.dumps(
            {
                "phase_results_processors": [
                    {
                        "normalization-processor": {
                            "normalization": {"technique": norm},
                            "combination": {
                                "technique": "arithmetic_mean",
                                "parameters": {"weights": [round(w, 4) for w in weights.values()]},
                            },
                        }
                    }
                ]
            },
            indent=2,
        )
    }
    if setting.norm == "min-max":
        lanes = [
            {
                "retriever": {"standard": {"query": {"...": name}}},
                "weight": round(weight, 4),
                "normalizer": "minmax",
            }
            for name, weight in weights.items()
        ]
        found["elasticsearch"] = json.dumps(
            {"retriever": {"linear": {"retrievers": lanes}}}, indent=2
        )
        found["vespa"] = " + ".join(
            f"{weight:.4g} * normalize_linear({name})" for name, weight in weights.items()
        )
        if len(weights) == 2:
            # Weaviate's relative scores are min-max; alpha is the weight of the vectors.
            alpha = list(weights.values())[-1]
            found["weaviate"] = (
                f"hybrid(query, alpha={alpha:.4g}, fusion_type=HybridFusion.RELATIVE_SCORE)"
            )
    return found
