"""Labelling: pools, queues, annotators, agreement, import and export."""
