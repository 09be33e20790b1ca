"""Where the `hinged` program starts: a running assistant does the command if it can, else this process does."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the `hinged` program and exit; see `hinged.cli.main`."""
    try:
        code = _ask()
    except KeyboardInterrupt:
        code = 130
    if code is not None:
        sys.exit(code)
    from hinged.cli.main import main as run

    run()


def _ask() -> int | None:
    if sys.argv[1:2] != ["mail"]:
        return None
    from hinged.cli.asking import ask

    return ask(sys.argv[1:])
