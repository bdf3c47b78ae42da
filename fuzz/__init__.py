"""A campaign against Calipers: files, commands and calls that nobody would write on purpose.

`python -m fuzz --cases 20000 --seed 7` (or `make fuzz`) makes cases from a valid file of every
form that the registry knows, from every option in click's own tree, and from the annotations of
every operation, so that a new form, option or operation is included unasked. A finding is a
traceback, an exit code that means nothing, a hang, too much memory for a small input, or a file
that is left behind after an error. It is printed as a command with its smallest file.
"""
