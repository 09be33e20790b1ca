"""Names of files as text that can be kept and printed, whatever bytes they are made of."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

__all__ = ["escaped", "told_apart"]


def escaped(name: str) -> str:
    """A name of a file with the bytes that are not UTF-8 escaped; different names stay different.

    Examples
    --------
    >>> escaped("17.a.host"), escaped("caf\\udce9")
    ('17.a.host', 'caf\\\\xe9')
    """
    if name.isascii():
        return name
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def told_apart(found: Iterable[tuple[str, Path]], root: Path) -> dict[str, Path]:
    """Folders by name, in order; where two want the same name, the second is called by its path.

    Examples
    --------
    >>> found = [("Bücher", Path("m/.B&APw-cher")), ("Bücher", Path("m/.B\\udcfccher"))]
    >>> list(told_apart(found, Path("m")))
    ['.B\\\\xfccher', 'Bücher']
    """
    paths: dict[str, Path] = {}
    for name, path in found:
        paths[escaped(str(path.relative_to(root))) if name in paths else name] = path
    return dict(sorted(paths.items()))
