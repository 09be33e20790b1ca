"""The models of a folder: created, found, kept in memory while there is room, closed at shutdown."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import ParamSpec, TypeVar

from hinged.estimators.learner import Learner
from hinged.http.connections import share_files
from hinged.io.atomic import flush_folder
from hinged.journal import DurableModel
from hinged.journal.estimator_settings import agrees
from hinged.journal.folder import FolderLock
from hinged.service.responses import Refused
from hinged.service.settings import Settings
from hinged.service.slot import Slot

__all__ = ["NAME", "Models", "unknown"]

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}$"
THREADS = 8
P = ParamSpec("P")
T = TypeVar("T")


class Models:
    """Every model of a server, by name.

    Parameters
    ----------
    settings : settings of the server; this process holds the lock of its folder
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = settings.folder / "models"
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._held = FolderLock(settings.folder)
        self.slots: dict[str, Slot] = {}
        self.counts: Counter[str] = Counter()  # examples and commits, also of deleted models
        self.evicted = 0
        self._threads = ThreadPoolExecutor(THREADS, "hinged")
        self.shares = share_files(settings.connections)
        self._making_room: asyncio.Task[None] | None = None
        for left in self.folder.glob(".*"):  # left by a process that was killed while it created or deleted a model
            shutil.rmtree(left, ignore_errors=True)

    # ------------------------------------------------------------------ using
    def using(self, name: str) -> AbstractAsyncContextManager[Slot]:
        """Load a model if needed and keep it in memory while the block runs."""
        return self.holding(self.find(name))

    @asynccontextmanager
    async def holding(self, slot: Slot) -> AsyncIterator[Slot]:
        """Do the same for a model that was found before; refuse it if it has been deleted since.

        Do not wait for a client inside the block: the model could be neither deleted nor evicted meanwhile.
        """
        if slot.deleted:
            raise unknown(slot.name)
        slot.hold()
        try:
            if slot.kept is None or slot.gate.locked():
                await slot.open(snapshot_every=self.settings.snapshot_every, fsync=self.settings.fsync)
                if slot.kept is None:
                    raise unknown(slot.name)
            yield slot
        finally:
            slot.release()
            self._make_room_if_needed()

    def find(self, name: str) -> Slot:
        """Return the slot of a model; refuse an unknown name."""
        slot = self.slots.get(name)
        if slot is None:
            if not re.fullmatch(NAME, name) or not (self.folder / name).is_dir():
                raise unknown(name)
            slot = self._slot(name)
        if slot.deleted:
            raise unknown(name)
        return slot

    async def in_thread(self, call: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """Run a slow function in a thread, so that other requests are answered meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(call, *given, **named))

    def names(self) -> list[str]:
        """Return the names of all models, sorted."""
        return sorted(entry.name for entry in self.folder.iterdir() if re.fullmatch(NAME, entry.name))

    def _slot(self, name: str) -> Slot:
        made = Slot(name, self.folder / name, self.settings.group, self.in_thread, self.counts)
        return self.slots.setdefault(name, made)

    # ------------------------------------------------------------------ making and removing
    @asynccontextmanager
    async def making(self, name: str, estimator: Learner) -> AsyncIterator[tuple[Slot, bool]]:
        """Give a model in memory, created if there was none, and True if it is new.

        Refuse the name if a model of other settings has it. A model that is being deleted is waited for.
        """
        while True:
            slot = self._slot(name)
            async with slot.changing:
                if slot.deleted:
                    continue  # deleted in the meantime
                new = not slot.folder.exists()
                if new:
                    try:
                        await self.in_thread(self._create, slot, estimator)
                    except BaseException:
                        self._drop(slot)
                        raise
                async with self.holding(slot):
                    if not agrees(estimator, slot.durable.journal.get("model")):
                        sentence = f"a model {name!r} of other settings exists; choose another name, or delete it."
                        raise Refused(409, sentence)
                    yield slot, new
                    return

    def _drop(self, slot: Slot) -> None:
        """Forget a slot; requests that still wait for it find it deleted."""
        slot.deleted = True
        del self.slots[slot.name]

    def _create(self, slot: Slot, estimator: Learner) -> None:
        """Create a model in a temporary folder and rename it, so that a kill leaves a complete model or none."""
        aside = self.folder / f".new-{secrets.token_hex(8)}"
        try:
            DurableModel(aside, estimator).close()
            os.rename(aside, slot.folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        flush_folder(self.folder)

    async def delete(self, name: str) -> None:
        """Delete a model and all it has learnt."""
        slot = self.find(name)
        async with slot.changing:
            if slot.deleted:
                raise unknown(name)
            slot.deleted = True  # requests from now on find nothing
            try:
                while slot.users:
                    await asyncio.sleep(0.01)
                await slot.close()
                async with slot.gate:
                    await self.in_thread(self._delete, slot)
            except BaseException:
                slot.deleted = False
                raise
            self._drop(slot)

    def _delete(self, slot: Slot) -> None:
        aside = self.folder / f".gone-{secrets.token_hex(8)}"
        os.rename(slot.folder, aside)
        flush_folder(self.folder)
        shutil.rmtree(aside, ignore_errors=True)

    # ------------------------------------------------------------------ room
    def loaded(self) -> list[Slot]:
        """Return the slots whose models are in memory."""
        return [slot for slot in self.slots.values() if slot.kept is not None]

    def _make_room_if_needed(self) -> None:
        if self._making_room is None and self._too_many():
            self._making_room = asyncio.create_task(self._make_room())

    def _too_many(self) -> bool:
        loaded = self.loaded()
        return len(loaded) > self.shares.models or sum(slot.bytes for slot in loaded) > self.settings.memory

    async def _make_room(self) -> None:
        """Close models that are not in use, least recently used first."""
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
    """Return the refusal of an unknown model."""
    return Refused(404, f"there is no model {name!r}; PUT /v1/models/{name} creates one.")
