"""The command line as ``python -m bayescaling``."""

from .commands.cli import main

if __name__ == "__main__":
    main()
