"""Grids: a file of retrievers with parameters, every combination a run of its own."""
