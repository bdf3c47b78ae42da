"""Records: one for each query, in JSON or in the cells of a table."""
