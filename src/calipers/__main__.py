"""``python -m calipers``: the command, where its folder is not on the path."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # A user's html.py in the working folder must not shadow the standard one.
    if sys.path[:1] == [str(Path.cwd())]:
        del sys.path[0]

    from calipers.start import program

    program()
