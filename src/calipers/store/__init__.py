"""The history of evaluations: stored in SQLite or PostgreSQL, looked up by reference."""
