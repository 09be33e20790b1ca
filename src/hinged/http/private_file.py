"""Small files of secrets: replaced as a whole, readable by their owner alone."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

__all__ = ["write_private"]


def write_private(path: Path, content: object) -> None:
    """Write JSON to a file with mode 0600; a reader sees the old file or the new one, never a part.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp()) / "secret.json"
    >>> write_private(path, {"secret": 1})
    >>> path.read_text(), oct(path.stat().st_mode & 0o777)
    ('{"secret": 1}', '0o600')
    """
    file, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}")  # mode 0600
    try:
        with open(file, "w", encoding="utf-8") as out:
            json.dump(content, out)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
