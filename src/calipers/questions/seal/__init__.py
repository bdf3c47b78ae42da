"""Queries set aside, so that what was tuned on the others can be confirmed."""
