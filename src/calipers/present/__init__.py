"""Documents rendered for the terminal, HTML, Markdown and CSV, and their charts."""
