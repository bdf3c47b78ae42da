"""Colours that all readers can tell apart, on white paper and on the page."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """The few colours that a chart may use."""

    ink: str
    quiet: str
    """Axis labels."""
    line: str
    """Grid and rules."""
    accent: str
    worse: str
    """Set against the accent; the two differ for every kind of colour vision, and in lightness."""
    even: str
    paper: str


LIGHT = Palette(
    ink="#1c2430", quiet="#5b6675", line="#dfe3e8", accent="#1f5fa8", worse="#c0500c",
    even="#8a94a1", paper="#ffffff",
)  # fmt: skip
PAGE = Palette(
    ink="var(--ink)", quiet="var(--quiet)", line="var(--line)", accent="var(--accent)",
    worse="var(--worse)", even="var(--even)", paper="var(--paper)",
)  # fmt: skip
"""The names of the page's own colours, so that a chart turns dark with it."""
