"""Retrievals that can be killed: a process that has everything loaded, and forks one for each.

Each line on standard input holds the arguments of one retrieval. It answers with the number of
the new process, and when that has ended with how it ended.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from calipers.live.adapters import http  # noqa: F401 - loaded here once, not in every fork
from calipers.live.driver import Limits
from calipers.live.keywords import RetrieverOptions
from calipers.live.retrieve import retrieve_to_report


def quick(query: str, k: int) -> dict[str, list[dict[str, str]]]:
    """Costs nothing most of the time, so that many lines are on their way at any moment."""
    if query.endswith("0"):
        # But no machine is so quick that nothing is left to interrupt.
        time.sleep(0.002)
    return {"hits": [{"id": f"{query}-{i}"} for i in range(k)]}


def run(address: str, questions: list[str], output: str) -> None:
    retrieve_to_report(
        address,
        questions,
        k=5,
        output=output,
        limits=Limits(workers=4, timeout=5, retries=1),
        options=RetrieverOptions(results="$.hits[*]"),
    )


def recorded(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a run file, without the times."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    times = ("latency_ms", "warm_up")
    return [{n: v for n, v in json.loads(one).items() if n not in times} for one in lines]


def serve() -> None:
    for line in sys.stdin:
        number = os.fork()
        if number == 0:
            run(*json.loads(line))
            os._exit(0)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        _, status = os.waitpid(number, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
