"""Saved evaluations, their trends, and alarms."""
