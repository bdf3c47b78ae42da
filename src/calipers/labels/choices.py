"""The words that may be said about labels: how judges are compared, merged, and what is judged."""

from typing import Literal, get_args

Scale = Literal["nominal", "ordinal", "interval"]
"""What a difference between grades means: just different, an order, or a distance."""
Weights = Literal["none", "linear", "quadratic"]
"""How Cohen's kappa counts the distance between two grades."""
How = Literal["majority", "mean", "max", "min"]
"""How several grades become one."""
WhenTied = Literal["leave", "max", "min", "mean"]
"""What happens where two grades have equally many votes."""
JudgeOnly = Literal["misses", "different"]
"""Questions with a miss in some run, or whose results differ between the runs."""

SCALES: tuple[str, ...] = get_args(Scale)
WEIGHTS: tuple[str, ...] = get_args(Weights)
HOW: tuple[str, ...] = get_args(How)
WHEN_TIED: tuple[str, ...] = get_args(WhenTied)
ONLY: tuple[str, ...] = get_args(JudgeOnly)
IfThere = Literal["refuse", "same", "another"]
"""What becomes of a pool whose name there is: it is refused, gone on with if it was made of the
same, or given another name."""
