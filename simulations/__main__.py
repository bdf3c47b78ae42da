"""`python -m simulations [SECTION ...]`: simulate, and write docs/statistics.md."""

import argparse
import json
import os
import sys
import time
from dataclasses import astuple
from pathlib import Path

# One core: threads of the matrix library would only wait for each other.
for _library in ("OPENBLAS", "MKL", "OMP"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

from simulations.page import PARTS, page  # noqa: E402 - after the threads are chosen
from simulations.rates import Rate  # noqa: E402

PAGE = Path(__file__).parent.parent / "docs" / "statistics.md"
MEASURED = Path(__file__).parent / "measured.json"
QUICK = 0.1


def measured() -> dict[str, list[Rate]]:
    """The rates of every section, as they were simulated last."""
    if not MEASURED.exists():
        return {}
    kept = json.loads(MEASURED.read_text(encoding="utf-8"))
    return {name: [Rate(*one) for one in rates] for name, rates in kept.items()}


def _keep(name: str, simulated: list[Rate]) -> None:
    """Beside the other sections, which may have been simulated since by another process."""
    rates = {**measured(), name: simulated}
    lines = [
        f"{json.dumps(part)}: [\n"
        + ",\n".join(json.dumps(astuple(one), ensure_ascii=False) for one in rates[part])
        + "\n]"
        for part in PARTS
        if part in rates
    ]
    MEASURED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    PAGE.write_text(page(rates), encoding="utf-8")


def main() -> int:
    """Simulate some sections or all, and say what left its band."""
    parser = argparse.ArgumentParser(
        prog="python -m simulations",
        description="Simulate what answers promise, and write docs/statistics.md.",
    )
    parser.add_argument("section", nargs="*", help=f"any of {', '.join(PARTS)}; all without")
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws, printed only")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.section if name not in PARTS]
    if unknown:
        parser.error(f"there is no section {unknown[0]}; choose among {', '.join(PARTS)}")
    found: dict[str, list[Rate]] = {}
    names = chosen.section or list(PARTS)
    for at, name in enumerate(names, 1):
        begun = time.process_time()
        found[name] = list(PARTS[name].rates(QUICK if chosen.quick else 1.0))
        spent = time.process_time() - begun
        sys.stderr.write(f"{at} of {len(names)}, {name}: {spent:.0f} s\n")
        if not chosen.quick:
            _keep(name, found[name])
    if chosen.quick:
        sys.stdout.write(page(found))
    outside = [one for name in names for one in found[name] if not one.held and not one.known]
    for rate in outside:
        sys.stderr.write(f"outside its band: {rate}\n")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
