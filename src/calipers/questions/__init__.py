"""The questions that can be asked of a matched pair, a folder each; small ones are a file."""
