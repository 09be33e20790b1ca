"""Maildir: a file for each message. Maildir++ (`.Work.Tax` beside the inbox) and plain trees of Maildirs."""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from hinged.mail.headers import readable
from hinged.mail.message import ENOUGH
from hinged.mail.sources.folder_names import PARTS, distinct_names, escaped, from_utf7, guess_uses, levels_of, to_utf7
from hinged.mail.sources.source import (
    UNREADABLE,
    Folder,
    FolderError,
    GoneError,
    Place,
    Source,
    SourceError,
    Unreadable,
)

__all__ = ["MaildirSource", "is_maildir"]

LISTINGS = 2  # folders whose files are cached
ARRIVED = re.compile(r"[0-9]+")


def is_maildir(folder: Path) -> bool:
    """Return True if a folder is a Maildir."""
    return (folder / "cur").is_dir() and (folder / "new").is_dir()


class MaildirSource(Source):
    """Maildirs in a folder and below it. If the folder itself is a Maildir, it is the inbox.

    Keys are the names of files without their flags, which change when a message is read. Names that are not UTF-8 are
    decoded as Latin-1 for folders, and have their bytes escaped for keys.

    Examples
    --------
    >>> import tempfile
    >>> root = Path(tempfile.mkdtemp())
    >>> for name in ("new", "cur", "tmp", ".Work.Tax/new", ".Work.Tax/cur", ".Work.Tax/tmp"):
    ...     (root / name).mkdir(parents=True)
    >>> _ = (root / "new" / "17.a.host").write_bytes(b"Subject: tax\\n\\n")
    >>> source = MaildirSource(root)
    >>> [folder.name for folder in source.folders()], source.places("INBOX")
    (['INBOX', 'Work/Tax'], [Place(folder='INBOX', key='17.a.host')])
    >>> moved = source.move(source.places("INBOX")[0], "Work/Tax")
    >>> [raw for _, raw in source.read([moved])]
    [b'Subject: tax\\n\\n']
    """

    read_only = "messages of a Maildir have no keywords; they cannot be marked."

    def __init__(self, root: Path) -> None:
        self.root = root
        self._paths: dict[str, Path] = {}
        self._broken: dict[Path, str] = {}  # folders that cannot be listed, and why
        self._listed: OrderedDict[str, dict[str, str]] = OrderedDict()  # files by key, as last listed
        self._last_seen = self._fingerprint()

    def folders(self) -> list[Folder]:
        """Return every Maildir, sorted by name; special uses are guessed from names."""
        self._broken = {}
        self._paths = distinct_names(self._found(self.root, ""), self.root)
        uses = {name: "inbox" if name == "INBOX" else "" for name in self._paths}
        guess_uses(uses)
        return [Folder(name, UNREADABLE if self._paths[name] in self._broken else use) for name, use in uses.items()]

    def places(self, folder: str) -> list[Place]:
        """Return the places of the messages of a folder, sorted by the time in their file names."""
        return [Place(folder, key) for key in sorted(self._files(folder), key=_arrival)]

    def read(self, places: Sequence[Place]) -> Iterator[tuple[Place, bytes | Unreadable]]:
        for place in places:
            raw = _read(self._cached(place))
            if raw is None:  # it arrived, or its flags changed, since the folder was listed
                raw = _read(self._files_or_none(place.folder).get(place.key))
            if raw is not None:
                yield place, raw

    def move(self, place: Place, folder: str) -> Place:
        """Rename the file into another Maildir; its flags are kept."""
        path = self._cached(place)
        if path is None or not os.path.lexists(path):
            path = self._files(place.folder).get(place.key)
        if path is None:
            raise SourceError(f"the message {place.key} is no longer in {place.folder}; nothing was moved.")
        origin = Path(path)
        target = self._path(folder) / origin.parent.name / origin.name
        if target.exists():
            raise SourceError(f"{folder} holds a message {place.key} already; nothing was moved.")
        try:
            os.rename(origin, target)
        except OSError as problem:
            raise SourceError(f"{place.key} could not be moved to {folder} ({problem.strerror}).") from problem
        for changed in (target.parent, origin.parent):
            _flush(changed)
        self._listed.get(place.folder, {}).pop(place.key, None)
        if folder in self._listed:
            self._listed[folder][place.key] = str(target)
        return Place(folder, place.key)

    def deliver(self, folder: str, raw: bytes) -> None:
        """Write the message to `tmp`, then rename it into `new`, so that no program sees a part of it."""
        path, name = self._path(folder), f"{time.time_ns() // 10**9}.{secrets.token_hex(8)}.hinged"
        try:
            with open(path / "tmp" / name, "xb") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
            os.rename(path / "tmp" / name, path / "new" / name)
        except OSError as problem:
            with suppress(OSError):
                (path / "tmp" / name).unlink()
            raise SourceError(f"a message could not be written to {folder} ({problem.strerror}).") from problem
        _flush(path / "new")

    def name_on_server(self, folder: str) -> str:
        """Return the name with levels as Dovecot separates them by default: by dots in a Maildir++, else by slashes."""
        return folder.replace("/", ".") if self._path(folder).name.startswith(".") else folder

    def create(self, folder: str) -> str:
        """Create a Maildir, named like those beside it: `.Work.Tax` if the top folder is the inbox, else `Work/Tax`."""
        names = [one.name for one in self.folders()]
        dotted = any(path.parent == self.root and path.name.startswith(".") for path in self._paths.values())
        flat = dotted or is_maildir(self.root)
        levels = levels_of(folder, names, "." if flat else "")
        path = self.root.joinpath("." + ".".join(map(to_utf7, levels))) if flat else self.root.joinpath(*levels)
        try:
            for part in ("tmp", "new", "cur"):
                (path / part).mkdir(parents=True, mode=0o700)
        except OSError as problem:
            raise SourceError(f"the folder {folder!r} could not be created ({problem.strerror}).") from problem
        _flush(path.parent)
        self.folders()
        return folder

    def _found(self, folder: Path, name: str, above: tuple[tuple[int, int], ...] = ()) -> Iterator[tuple[str, Path]]:
        """Yield Maildirs with their preferred names, and folders that cannot be listed."""
        try:
            found = folder.stat()
            if (found.st_dev, found.st_ino) in above:  # a link to a parent folder
                return
            below = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
        except OSError as problem:
            if self._is_broken(folder, name, problem):
                yield name, folder
            return
        if is_maildir(folder):
            yield name or "INBOX", folder
        for own in below:
            shown = _name_below(name, own)
            if shown is not None:
                yield from self._found(folder / own, shown, (*above, (found.st_dev, found.st_ino)))

    def _is_broken(self, folder: Path, name: str, problem: OSError) -> bool:
        """Return True, and record why, if a folder cannot be listed; raise if it is the top folder."""
        why = f"{folder} cannot be listed ({problem.strerror})."
        if not name:
            raise SourceError(why) from problem
        if isinstance(problem, FileNotFoundError):  # it was removed or renamed at this moment
            return False
        self._broken[folder] = why
        return True

    def _path(self, folder: str) -> Path:
        if folder not in self._paths:
            self.folders()
        if folder not in self._paths:
            raise SourceError(f"there is no folder {folder!r} in {self.root}.")
        return self._paths[folder]

    def _files(self, folder: str) -> dict[str, str]:
        """List the files of a folder by key, and cache them: the time to list grows with the folder."""
        path, files = self._path(folder), {}
        if path in self._broken:
            raise FolderError(self._broken[path])
        for name in ("new", "cur"):
            try:
                for entry in os.scandir(path / name):
                    if not entry.name.startswith("."):
                        files[escaped(entry.name.partition(":")[0])] = entry.path
            except FileNotFoundError:
                raise GoneError(f"{path} no longer exists.") from None
            except OSError as problem:
                raise FolderError(f"{path / name} cannot be listed ({problem.strerror}).") from problem
        self._listed[folder] = files
        self._listed.move_to_end(folder)
        while len(self._listed) > LISTINGS:
            self._listed.popitem(last=False)
        return files

    def _files_or_none(self, folder: str) -> dict[str, str]:
        """List the files of a folder; none if it no longer exists."""
        try:
            return self._files(folder)
        except GoneError:
            return {}

    def _cached(self, place: Place) -> str | None:
        """Return the path of a message when its folder was last listed; the file may have moved since."""
        files = self._listed.get(place.folder)
        return (self._files_or_none(place.folder) if files is None else files).get(place.key)

    def _fingerprint(self) -> tuple[tuple[str, int], ...]:
        """Return the modification time of each folder."""
        times = []
        for _, path in self._found(self.root, ""):
            for name in ("new", "cur"):
                with suppress(OSError):  # removed, or not accessible
                    times.append((str(path / name), (path / name).stat().st_mtime_ns))
        return tuple(times)


def _name_below(name: str, own: str) -> str | None:
    """Return the preferred name of a folder below another; None if it is hidden, or holds files of a Maildir."""
    if own in PARTS or (name and own.startswith(".")):
        return None
    if own.startswith("."):
        return "/".join(from_utf7(part) for part in readable(own[1:]).split("."))
    return f"{name}/{readable(own)}" if name else readable(own)


def _arrival(key: str) -> tuple[int, str]:
    found = ARRIVED.match(key)
    return (int(found[0]) if found else 0, key)


def _read(path: str | None) -> bytes | Unreadable | None:
    """Return the beginning of a file; None if it no longer exists."""
    try:
        if path is not None:
            if not stat.S_ISREG(os.stat(path).st_mode):
                return Unreadable("it is not a regular file")
            with open(path, "rb", opener=_without_waiting) as file:
                return file.read(ENOUGH)
    except FileNotFoundError:
        if path is not None and os.path.islink(path):
            return Unreadable("it is a link to a file that does not exist")
    except OSError as problem:
        return Unreadable(f"it cannot be read ({problem.strerror})")
    return None


def _without_waiting(path: str, flags: int) -> int:
    """Open a file without blocking, in case it has become a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _flush(folder: Path) -> None:
    """Flush a rename to the disk, if that is possible."""
    from hinged.io.atomic import flush_folder  # loads the learner, which listing and reading do not need

    with suppress(OSError):
        flush_folder(folder)
