"""A folder of documents: which files are read, and their sections."""
