"""Calipers inside the evaluation tools of others: one module for each, loaded by its user alone."""
