"""``python -m calipers``: the command, where its folder is not on the path."""

from calipers.cli import program

if __name__ == "__main__":
    program()
