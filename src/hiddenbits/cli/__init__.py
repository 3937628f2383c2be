"""The command line, a thin layer over the public API."""

from __future__ import annotations

import sys

__all__ = ["run"]


def run() -> None:
    """Run the command line, or exit with the packages to install.

    Examples
    --------
    >>> from hiddenbits.cli import run
    >>> run()                     # doctest: +SKIP
    """
    try:
        import typer  # noqa: F401
    except ImportError:
        sys.exit("The command line needs typer and rich: pip install 'hiddenbits[cli]'.")
    from hiddenbits.cli.app import app

    app()
