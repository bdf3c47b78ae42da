"""Everything that is known, on one page."""
