"""Every operation that decides something, asked of the files in a folder; JSON on the output.

Run as a program it answers in a process of its own, with the threads that it is allowed.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import calipers

FOUND_AT = [3, 2, 0, 5, 4, 2, 7, 3, 9, 2, 0, 4, 1, 1, 6, 2, 3, 1, 8, 2, 1, 1, 2, 5]
NIGHTS = 9


def _files(truth: str, run: Path) -> dict[str, Any]:
    return {"ground_truth": truth, "run": str(run)}


def answers(folder: Path, run: str) -> dict[str, Any]:
    """What the operations say of truth.jsonl, old and new, and the nights; runs end in ``run``."""
    truth = str(folder / "truth.jsonl")
    old, new = (_files(truth, folder / f"{one}{run}") for one in ("old", "new"))
    systems = {"old": old["run"], "new": new["run"]}
    scores = {
        name: calipers.evaluate(**files, metrics="recall@3,mrr,ndcg@10", cluster="intent")
        for name, files in (("old", old), ("new", new))
    }
    store = str(folder / f"history{run}.db")
    for night in range(NIGHTS):
        calipers.save(scores["old" if night < NIGHTS - 2 else "new"], "nightly", store=store)
    said = {
        "evaluate": scores["new"].to_dict(per_query=False),
        "compare": calipers.compare(systems, truth).to_dict(),
        "compare by clusters": calipers.compare(systems, truth, cluster="intent").to_dict(),
        "gate": calipers.gate(scores["new"], baseline=scores["old"], by="type").to_dict(),
        "sweep": calipers.sweep(**new).to_dict(),
        "diagnose": calipers.diagnose(**new).to_dict(),
        "slices": calipers.slices(scores["new"], ["type", "length"]).to_dict(),
        "plan": calipers.plan(systems, truth, queries=80).to_dict(),
        "alarm": [asdict(one) for one in calipers.history_alarm("nightly", store=store).checks],
    }
    plain: dict[str, Any] = _numbers(json.loads(json.dumps(said, default=repr)))
    return plain


# How equal scores are ordered depends on the format; ids and times differ with every save.
LEFT_OUT = ("settings", "policy", "fingerprints", "since", "raised", "reference", "next")


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _numbers(one) for name, one in value.items() if name not in LEFT_OUT}
    return [_numbers(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    sys.stdout.write(json.dumps(answers(Path(sys.argv[1]), sys.argv[2])))
