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
    parser.add_argument("--commands", type=int, default=1, help="commands asked of each world")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--of", default="", help="only commands that begin so")
    options = parser.parse_args()
    began = time.monotonic()
    asked = 0
    problems = 0
    for seed in range(options.seed, options.seed + options.worlds):
        for problem in wrong_in(seed, options.commands, options.of):
            sys.stdout.write(f"{problem}\n")
            sys.stdout.flush()
            problems += 1
        asked += 1
        if time.monotonic() - began > options.seconds:
            break
    spent = time.process_time()
    line = f"{asked:,} worlds, {problems:,} problems, {spent:.0f} s of processor time\n"
    sys.stdout.write(line)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
