"""Numbers in, numbers out: intervals, tests, power, alarms. No queries, files or advice."""
