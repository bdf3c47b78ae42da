"""Numbers in, numbers out: intervals, tests, power, nights. No query, no file, no advice."""
