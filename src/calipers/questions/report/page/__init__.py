"""The report as an HTML page: one file, no network, all text escaped."""
