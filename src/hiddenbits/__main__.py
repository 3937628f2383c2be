"""``python -m hiddenbits``: the command line."""

from hiddenbits.cli import run

if __name__ == "__main__":
    run()
