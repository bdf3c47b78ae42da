"""Every operation that decides something, asked of the files in a folder; JSON on the output.

Run as a program it answers in a process of its own, with the threads that it is allowed.
"""

import json
import sys
from pathlib import Path
from typing import Any

import calipers

FOUND_AT = [3, 2, 0, 5, 4, 2, 7, 3, 9, 2, 0, 4, 1, 1, 6, 2, 3, 1, 8, 2, 1, 1, 2, 5]
NIGHTS = 9


def answers(folder: Path, run: str) -> dict[str, Any]:
    """What the operations say of truth.jsonl, old and new, and the nights; runs end in ``run``."""
    truth = str(folder / "truth.jsonl")
    old, new = (
        {"ground_truth": truth, "run": str(folder / f"{one}{run}")} for one in ("old", "new")
    )
    systems = {"old": old["run"], "new": new["run"]}
    scores = {
        name: calipers.evaluate(**files, metrics="recall@3,mrr,ndcg@10", cluster="intent")
        for name, files in (("old", old), ("new", new))
    }
    store = str(folder / f"history{run}.db")
    for night in range(NIGHTS):
        calipers.save(scores["old" if night < NIGHTS - 2 else "new"], "nightly", store=store)
    said = {
        "evaluate": scores["new"].to_dict(),
        "compare": calipers.compare(systems, truth).to_dict(),
        "compare by clusters": calipers.compare(systems, truth, cluster="intent").to_dict(),
        "gate": calipers.gate(scores["new"], baseline=scores["old"], by="type").to_dict(),
        "sweep": calipers.sweep(**new).to_dict(),
        "diagnose": calipers.diagnose(**new).to_dict(),
        "slices": calipers.slices(scores["new"], ["type", "length"]).to_dict(),
        "plan": calipers.plan(systems, truth, queries=80).to_dict(),
        "bounds": calipers.bounds(**new, metrics="recall@3,ndcg@5").to_dict(),
        "alarm": [one.__dict__ if hasattr(one, "__dict__") else repr(one)
                  for one in calipers.alarm("nightly", store=store).checks],
    }  # fmt: skip
    # Repr has every digit of a number; times and ids of the history differ each time.
    plain: dict[str, Any] = json.loads(json.dumps(said, default=repr))
    for check in plain["alarm"]:
        check.pop("since", None)
        check.pop("raised", None)
    return plain


if __name__ == "__main__":
    sys.stdout.write(json.dumps(answers(Path(sys.argv[1]), sys.argv[2])))
