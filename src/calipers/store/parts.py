"""Names inside the contents of an evaluation."""

JUDGEMENTS = "judgements"
"""The column with a digest of what should be found, for each query."""
TAG_COLUMN = "tag."
"""How the columns of the queries' tags begin."""
