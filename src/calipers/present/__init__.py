"""Results made readable: view models first, then the terminal, CSV and more."""
