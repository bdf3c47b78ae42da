"""What the scores say: intervals, paired comparisons, power."""
