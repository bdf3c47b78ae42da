"""The history of evaluations: kept in SQLite or PostgreSQL, found again by reference."""
