"""The questions to ask of a matched pair: a folder each, or a file for small ones."""
