"""Draw worlds and check every sentence: ``python -m tests.worlds --worlds 10000 --seed 1``."""

import argparse
import sys
import time

from tests.worlds.ask import wrong_in


def main() -> int:
    """Print what is wrong, and how many worlds were asked; exit code 1 where anything is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commands", type=int, default=3, help="commands asked of each world")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    given = parser.parse_args()
    began = time.monotonic()
    asked = 0
    found: list[str] = []
    for seed in range(given.seed, given.seed + given.worlds):
        wrong = wrong_in(seed, given.commands)
        for one in wrong:
            sys.stdout.write(f"{one}\n")
            sys.stdout.flush()
        found += wrong
        asked += 1
        if time.monotonic() - began > given.seconds:
            break
    sys.stdout.write(f"{asked:,} worlds, {len(found):,} problems\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
