"""One file per version of the tables, never changed once it was released."""
