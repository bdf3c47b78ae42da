"""``python -m calipers``: the command, where its folder is not on the path."""

import os
import sys

if __name__ == "__main__":
    # A user's html.py in the working folder must not shadow the standard one.
    # `Path.cwd` would load much that Ctrl-C may meet.
    if sys.path[:1] == [os.getcwd()]:  # noqa: PTH109
        del sys.path[0]

    from calipers.start import program

    program()
