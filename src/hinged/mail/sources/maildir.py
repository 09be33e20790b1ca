"""Maildir: a file for each message. Maildir++ (`.Work.Tax` beside the inbox) and plain trees of Maildirs."""

from __future__ import annotations

import os
import re
import stat
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from hinged.mail.headers import readable
from hinged.mail.message import ENOUGH
from hinged.mail.sources.modified_utf7 import from_utf7, to_utf7
from hinged.mail.sources.naming import escaped, told_apart
from hinged.mail.sources.new_names import levels_of
from hinged.mail.sources.source import UNREADABLE, Folder, FolderError, GoneError, Place, SourceError, Unreadable
from hinged.mail.sources.uses import guess_uses

__all__ = ["MaildirSource", "is_maildir"]

STEP = 0.5  # seconds between two looks while waiting
LISTINGS = 2  # folders whose files are remembered
ARRIVED = re.compile(r"[0-9]+")


def is_maildir(folder: Path) -> bool:
    """Whether messages lie right here."""
    return (folder / "cur").is_dir() and (folder / "new").is_dir()


class MaildirSource:
    """Maildirs in and below a folder. Where the top itself is a Maildir, that is the inbox.

    Keys are the names of files without their flags, which change when a message is read. Names that are not UTF-8 are
    taken as Latin-1 for folders, and with their bytes escaped for keys.

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

    def __init__(self, root: Path) -> None:
        self.root = root
        self._paths: dict[str, Path] = {}
        self._broken: dict[Path, str] = {}  # folders that cannot be listed, and why
        self._listed: OrderedDict[str, dict[str, str]] = OrderedDict()  # files by key, as they were last listed
        self._state = self._looks()

    def folders(self) -> list[Folder]:
        """Every Maildir, in the order of their names; special uses are guessed by name."""
        self._broken = {}
        self._paths = told_apart(self._found(self.root, ""), self.root)
        uses = {name: "inbox" if name == "INBOX" else "" for name in self._paths}
        guess_uses(uses)
        return [Folder(name, UNREADABLE if self._paths[name] in self._broken else use) for name, use in uses.items()]

    def places(self, folder: str) -> list[Place]:
        """Where the messages of a folder lie, by the time that their files are named after."""
        return [Place(folder, key) for key in sorted(self._files(folder), key=_arrival)]

    def read(self, places: Sequence[Place]) -> Iterator[tuple[Place, bytes | Unreadable]]:
        """The raw messages, long ones cut behind what counts; one that is gone meanwhile is left out."""
        for place in places:
            raw = _read(self._remembered(place))
            if raw is None:  # it came, or got other flags, since the folder was listed
                raw = _read(self._files_if_there(place.folder).get(place.key))
            if raw is not None:
                yield place, raw

    def move(self, place: Place, folder: str) -> Place:
        """Rename the file into another Maildir; its flags stay."""
        path = self._remembered(place)
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

    def create(self, folder: str) -> str:
        """Make a Maildir, named as those beside it are: `.Work.Tax` where the top is the inbox, else `Work/Tax`."""
        names = [one.name for one in self.folders()]
        dotted = any(path.parent == self.root and path.name.startswith(".") for path in self._paths.values())
        flat = dotted or is_maildir(self.root)
        levels = levels_of(folder, names, "." if flat else "")
        path = self.root.joinpath("." + ".".join(map(to_utf7, levels))) if flat else self.root.joinpath(*levels)
        try:
            for part in ("tmp", "new", "cur"):
                (path / part).mkdir(parents=True, mode=0o700)
        except OSError as problem:
            raise SourceError(f"the folder {folder!r} could not be made ({problem.strerror}).") from problem
        _flush(path.parent)
        self.folders()
        return folder

    def mark(self, place: Place, keywords: Sequence[str]) -> None:
        """Refused: Maildir has no keywords."""
        raise SourceError(f"messages of a Maildir have no keywords, so {place.key} cannot be marked.")

    def wait(self, seconds: float) -> bool:
        """Look twice a second whether a folder changed."""
        end = time.monotonic() + seconds
        while True:
            now = self._looks()
            if now != self._state:
                self._state = now
                return True
            left = end - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(STEP, left))

    def close(self) -> None:
        """Nothing is held."""

    def _found(self, folder: Path, name: str, above: tuple[tuple[int, int], ...] = ()) -> Iterator[tuple[str, Path]]:
        """Maildirs with the names that they would like to have, and folders that cannot be listed."""
        try:
            look = folder.stat()
            if (look.st_dev, look.st_ino) in above:  # a link to a folder that it lies in
                return
            below = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
        except OSError as problem:
            if not name:
                raise SourceError(f"{folder} cannot be listed ({problem.strerror}).") from problem
            if isinstance(problem, FileNotFoundError):  # removed or renamed right now
                return
            self._broken[folder] = f"{folder} cannot be listed ({problem.strerror})."
            yield name, folder
            return
        if is_maildir(folder):
            yield name or "INBOX", folder
        above = (*above, (look.st_dev, look.st_ino))
        for own in below:
            if own in ("cur", "new", "tmp"):
                continue
            if not name and own.startswith("."):
                shown = "/".join(from_utf7(part) for part in readable(own[1:]).split("."))
                yield from self._found(folder / own, shown, above)
            elif not own.startswith("."):
                yield from self._found(folder / own, f"{name}/{readable(own)}" if name else readable(own), above)

    def _path(self, folder: str) -> Path:
        if folder not in self._paths:
            self.folders()
        if folder not in self._paths:
            raise SourceError(f"there is no folder {folder!r} in {self.root}.")
        return self._paths[folder]

    def _files(self, folder: str) -> dict[str, str]:
        """List the files of a folder by key, and remember them.

        Listing takes time in proportion to the folder, so that a single message is looked for where it was.
        """
        path, files = self._path(folder), {}
        if path in self._broken:
            raise FolderError(self._broken[path])
        for name in ("new", "cur"):
            try:
                for entry in os.scandir(path / name):
                    if not entry.name.startswith("."):
                        files[escaped(entry.name.partition(":")[0])] = entry.path
            except FileNotFoundError:
                raise GoneError(f"{path} is gone.") from None
            except OSError as problem:
                raise FolderError(f"{path / name} cannot be listed ({problem.strerror}).") from problem
        self._listed[folder] = files
        self._listed.move_to_end(folder)
        while len(self._listed) > LISTINGS:
            self._listed.popitem(last=False)
        return files

    def _files_if_there(self, folder: str) -> dict[str, str]:
        """The same; none where the folder is gone."""
        try:
            return self._files(folder)
        except GoneError:
            return {}

    def _remembered(self, place: Place) -> str | None:
        """Where a message was when its folder was last listed; the file may be gone."""
        files = self._listed.get(place.folder)
        return (self._files_if_there(place.folder) if files is None else files).get(place.key)

    def _looks(self) -> tuple[tuple[str, int], ...]:
        """When each folder changed last."""
        looks = []
        for _, path in self._found(self.root, ""):
            for name in ("new", "cur"):
                with suppress(OSError):  # it is gone, or may not be looked at
                    looks.append((str(path / name), (path / name).stat().st_mtime_ns))
        return tuple(looks)


def _arrival(key: str) -> tuple[int, str]:
    found = ARRIVED.match(key)
    return (int(found[0]) if found else 0, key)


def _read(path: str | None) -> bytes | Unreadable | None:
    """The beginning of a file; None where it is gone."""
    try:
        if path is not None:
            if not stat.S_ISREG(os.stat(path).st_mode):
                return Unreadable("it is no ordinary file")
            with open(path, "rb", opener=_without_waiting) as file:
                return file.read(ENOUGH)
    except FileNotFoundError:
        if path is not None and os.path.islink(path):
            return Unreadable("it is a link to a file that is gone")
    except OSError as problem:
        return Unreadable(f"it cannot be read ({problem.strerror})")
    return None


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; what became a pipe since it was looked at must not make anybody wait."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _flush(folder: Path) -> None:
    """See to it that a rename reaches the disk. Where that cannot be done, the rename has been made all the same."""
    if hasattr(os, "O_DIRECTORY"):
        with suppress(OSError):
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(held)
            finally:
                os.close(held)
