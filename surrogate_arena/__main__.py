"""``python -m surrogate_arena``: the command line."""

from surrogate_arena.cli.app import main

if __name__ == "__main__":
    main()
