"""Files and objects in, results out: one module per format, recognised by content."""
