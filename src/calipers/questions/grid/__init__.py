"""Grids: retrievers with parameters in a file; every combination is a separate run."""
