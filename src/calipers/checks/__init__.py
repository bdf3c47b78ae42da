"""Checks of the input: problems are counted and reported, never silently repaired."""
