"""The models of a folder: made, found, kept in memory as long as there is room, closed in the end."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from hinged.journal import DurableModel
from hinged.journal.lock import FolderLock
from hinged.journal.settings import plain_settings
from hinged.server.errors import Refused
from hinged.server.settings import Settings
from hinged.server.slot import Slot

__all__ = ["NAME", "Models", "unknown"]

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}$"
THREADS = 8
FILES_EACH = 5  # a journal, its two companions, a lock, and one to spare
FILES_ASIDE = 256  # connections and whatever else


class Models:
    """Every model of a server, by name.

    Parameters
    ----------
    settings : of the server; its folder is held for this process
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = settings.folder / "models"
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._held = FolderLock(settings.folder)
        self.slots: dict[str, Slot] = {}
        self.evicted = 0
        self._threads = ThreadPoolExecutor(THREADS, "hinged")
        self._most = (_files_allowed() - FILES_ASIDE) // FILES_EACH
        self._making_room: asyncio.Task[None] | None = None
        for left in self.folder.glob(".*"):  # by a process that was killed while it made or removed a model
            shutil.rmtree(left, ignore_errors=True)

    # ------------------------------------------------------------------ using
    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Slot]:
        """A model in memory, which stays there until this ends."""
        slot = self.slots.get(name) or self._found(name)
        if slot.gone:
            raise unknown(name)
        slot.hold()
        try:
            if slot.kept is None or slot.gate.locked():
                await slot.open(snapshot_every=self.settings.snapshot_every, fsync=self.settings.fsync)
                if slot.kept is None:
                    raise unknown(name)
            yield slot
        finally:
            slot.let_go()
            self._make_room_if_needed()

    async def in_thread(self, call: Any, *given: Any, **named: Any) -> Any:
        """Do something that takes its time without keeping others waiting."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(call, *given, **named))

    def names(self) -> list[str]:
        """The names of all models, in order."""
        return sorted(entry.name for entry in self.folder.iterdir() if re.fullmatch(NAME, entry.name))

    def _found(self, name: str) -> Slot:
        if not re.fullmatch(NAME, name) or not (self.folder / name).is_dir():
            raise unknown(name)
        return self._slot(name)

    def _slot(self, name: str) -> Slot:
        made = Slot(name, self.folder / name, self.settings.group, self.in_thread)
        return self.slots.setdefault(name, made)

    # ------------------------------------------------------------------ making and removing
    async def create(self, name: str, estimator: Any) -> bool:
        """Make a model; False where the same one is there already, refused where another one is."""
        slot = self._slot(name)
        async with slot.gate:
            if not slot.folder.exists():
                await self.in_thread(self._create, slot, estimator)
                slot.gone = False
                return True
        async with self.using(name) as slot:
            if slot.durable.journal.get("model") != plain_settings(estimator):
                raise Refused(409, f"there is a model {name!r} of other settings; choose another name, or delete it.")
        return False

    def _create(self, slot: Slot, estimator: Any) -> None:
        """Made aside and put in place as a whole, so that a kill leaves a model or none."""
        aside = self.folder / f".new-{secrets.token_hex(8)}"
        try:
            DurableModel(aside, estimator).close()
            os.rename(aside, slot.folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        _sync(self.folder)

    async def delete(self, name: str) -> None:
        """Remove a model and all it was taught."""
        async with self.using(name) as slot:
            slot.gone = True  # those who come from now on find nothing
            while slot.users > 1:
                await asyncio.sleep(0.01)
        await slot.close()
        async with slot.gate:
            try:
                await self.in_thread(self._delete, slot)
            except OSError:
                slot.gone = False
                raise

    def _delete(self, slot: Slot) -> None:
        aside = self.folder / f".gone-{secrets.token_hex(8)}"
        os.rename(slot.folder, aside)
        _sync(self.folder)
        shutil.rmtree(aside, ignore_errors=True)

    # ------------------------------------------------------------------ room
    def loaded(self) -> list[Slot]:
        """The models in memory."""
        return [slot for slot in self.slots.values() if slot.kept is not None]

    def _make_room_if_needed(self) -> None:
        if self._making_room is None and self._too_many():
            self._making_room = asyncio.create_task(self._make_room())

    def _too_many(self) -> bool:
        loaded = self.loaded()
        return len(loaded) > max(1, self._most) or sum(slot.bytes for slot in loaded) > self.settings.memory

    async def _make_room(self) -> None:
        """Close models that nobody uses, those first that were not asked for the longest."""
        try:
            for slot in sorted(self.loaded(), key=lambda slot: slot.used_at):
                if not self._too_many():
                    return
                self.evicted += await slot.close()
        finally:
            self._making_room = None

    async def close(self) -> None:
        """Save and close every model."""
        if self._making_room is not None:
            await self._making_room
        await asyncio.gather(*(slot.close() for slot in self.loaded()))
        self._threads.shutdown()
        self._held.release()


def unknown(name: str) -> Refused:
    """The answer where there is no such model."""
    return Refused(404, f"there is no model {name!r}; PUT /v1/models/{name} makes one.")


def _sync(folder: Any) -> None:
    """Let the names in a folder reach the disk."""
    if os.name != "nt":
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def _files_allowed() -> int:
    """How many files this process may have open; as many as the system lets it ask for."""
    try:
        import resource
    except ImportError:  # Windows, where the limit is far away
        return 8192
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)
