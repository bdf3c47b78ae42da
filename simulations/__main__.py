"""`python -m simulations`: run everything and write docs/statistics.md (minutes)."""

import argparse
import sys
import time
from pathlib import Path

from simulations.page import PARTS, page

PAGE = Path(__file__).parent.parent / "docs" / "statistics.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m simulations", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws, printed only")
    chosen = parser.parse_args()
    parts = []
    outside = 0
    for part in PARTS:
        sys.stderr.write(f"{part.title} … ")
        sys.stderr.flush()
        begun = time.perf_counter()
        rates = list(part.rates(0.1 if chosen.quick else 1.0))
        sys.stderr.write(f"{time.perf_counter() - begun:.0f} s\n")
        left = [rate for rate in rates if not rate.held]
        for rate in left:
            sys.stderr.write(f"  outside its band: {rate}\n")
        outside += len(left)
        parts.append((part, rates))
    text = page(parts)
    if chosen.quick:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text, encoding="utf-8")
    return 1 if outside else 0


sys.exit(main())
