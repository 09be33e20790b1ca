"""The models of a folder: made, found, kept in memory as long as there is room, closed in the end."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from hinged.journal import DurableModel
from hinged.journal.lock import FolderLock
from hinged.journal.settings import plain_settings
from hinged.server.connections import share_files
from hinged.server.errors import Refused
from hinged.server.settings import Settings
from hinged.server.slot import Slot

__all__ = ["NAME", "Models", "unknown"]

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}$"
THREADS = 8


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
        self.counts: Counter[str] = Counter()  # examples and commits, also of models that are gone
        self.evicted = 0
        self._threads = ThreadPoolExecutor(THREADS, "hinged")
        self.shares = share_files(settings.connections)
        self._making_room: asyncio.Task[None] | None = None
        for left in self.folder.glob(".*"):  # by a process that was killed while it made or removed a model
            shutil.rmtree(left, ignore_errors=True)

    # ------------------------------------------------------------------ using
    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Slot]:
        """A model in memory, which stays there until this ends."""
        async with self.holding(self.find(name)) as slot:
            yield slot

    @asynccontextmanager
    async def holding(self, slot: Slot) -> AsyncIterator[Slot]:
        """The same for a model that was found before; refused where it is deleted by now.

        Whoever waits for a client must not hold a model meanwhile: nobody could delete it, or make room.
        """
        if slot.gone:
            raise unknown(slot.name)
        slot.hold()
        try:
            if slot.kept is None or slot.gate.locked():
                await slot.open(snapshot_every=self.settings.snapshot_every, fsync=self.settings.fsync)
                if slot.kept is None:
                    raise unknown(slot.name)
            yield slot
        finally:
            slot.let_go()
            self._make_room_if_needed()

    def find(self, name: str) -> Slot:
        """Where a model of this name lies; refused where there is none."""
        slot = self.slots.get(name)
        if slot is None:
            if not re.fullmatch(NAME, name) or not (self.folder / name).is_dir():
                raise unknown(name)
            slot = self._slot(name)
        if slot.gone:
            raise unknown(name)
        return slot

    async def in_thread(self, call: Any, *given: Any, **named: Any) -> Any:
        """Do something that takes its time without keeping others waiting."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(call, *given, **named))

    def names(self) -> list[str]:
        """The names of all models, in order."""
        return sorted(entry.name for entry in self.folder.iterdir() if re.fullmatch(NAME, entry.name))

    def _slot(self, name: str) -> Slot:
        made = Slot(name, self.folder / name, self.settings.group, self.in_thread, self.counts)
        return self.slots.setdefault(name, made)

    # ------------------------------------------------------------------ making and removing
    @asynccontextmanager
    async def making(self, name: str, estimator: Any) -> AsyncIterator[tuple[Slot, bool]]:
        """A model in memory, made if there was none; and whether it is new. Refused where there is another one.

        One that is just being deleted is waited for.
        """
        while True:
            slot = self._slot(name)
            async with slot.changing:
                if slot.gone:
                    continue  # deleted meanwhile
                new = not slot.folder.exists()
                if new:
                    try:
                        await self.in_thread(self._create, slot, estimator)
                    except BaseException:
                        self._drop(slot)
                        raise
                async with self.holding(slot):
                    if slot.durable.journal.get("model") != plain_settings(estimator):
                        raise Refused(
                            409, f"there is a model {name!r} of other settings; choose another name, or delete it."
                        )
                    yield slot, new
                    return

    def _drop(self, slot: Slot) -> None:
        """Forget where a model lay; whoever still waits for it finds that it is gone."""
        slot.gone = True
        del self.slots[slot.name]

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
        slot = self.find(name)
        async with slot.changing:
            if slot.gone:
                raise unknown(name)
            slot.gone = True  # those who come from now on find nothing
            try:
                while slot.users:
                    await asyncio.sleep(0.01)
                await slot.close()
                async with slot.gate:
                    await self.in_thread(self._delete, slot)
            except BaseException:
                slot.gone = False
                raise
            self._drop(slot)

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
        return len(loaded) > self.shares.models or sum(slot.bytes for slot in loaded) > self.settings.memory

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
