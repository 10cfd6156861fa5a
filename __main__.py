"""The command line as ``python -m bayescaling``."""

from .commands.cli import run

if __name__ == "__main__":
    run()
