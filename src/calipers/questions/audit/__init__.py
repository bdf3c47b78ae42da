"""Is the ground truth fit to measure with?"""
