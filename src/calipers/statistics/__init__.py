"""Numbers in, numbers out: intervals, tests, power, drift. No query, no file, no advice."""
