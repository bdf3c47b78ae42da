"""What several commands share; a module of ``cli`` itself is a command."""
