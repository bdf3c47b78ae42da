"""From a ground truth and a run to matches: one join, shared by all metrics."""
