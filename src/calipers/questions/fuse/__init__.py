"""Fusing: what recorded lanes are worth together, and by which setting."""
