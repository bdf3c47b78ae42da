"""`python -m simulations`: run everything and write docs/statistics.md (minutes)."""

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from simulations.page import PARTS, page
from simulations.rates import Rate

PAGE = Path(__file__).parent.parent / "docs" / "statistics.md"


def simulated(share: float, number: int) -> list[Rate]:
    """The rates of one part; each has seeds of its own, so that it may run beside others."""
    begun = time.perf_counter()
    rates = list(PARTS[number].rates(share))
    sys.stderr.write(f"{PARTS[number].title}: {time.perf_counter() - begun:.0f} s\n")
    return rates


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m simulations", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws, printed only")
    chosen = parser.parse_args()
    with ProcessPoolExecutor() as pool:
        run = partial(simulated, 0.1 if chosen.quick else 1.0)
        parts = list(zip(PARTS, pool.map(run, range(len(PARTS))), strict=True))
    outside = [rate for _, rates in parts for rate in rates if not rate.held]
    for rate in outside:
        sys.stderr.write(f"outside its band: {rate}\n")
    text = page(parts)
    if chosen.quick:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text, encoding="utf-8")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
