"""One model of a server: opened when it is needed, taught by one writer, closed to make room."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

from hinged.estimators.learner import Learner
from hinged.journal import DurableModel, Example, JournalError, Receipt
from hinged.service.asking import BatchedPredictions, settle
from hinged.service.sizes import bytes_of

__all__ = ["Slot"]

P = ParamSpec("P")
T = TypeVar("T")
Waiting = tuple[list[Example], asyncio.Future[list[Receipt]]]
WEIGH_EVERY = 1000  # examples; a young model is weighed more often, because it grows fast


class InThread(Protocol):
    """Runs a slow function in a thread."""

    def __call__(self, call: Callable[P, T], *given: P.args, **named: P.kwargs) -> Awaitable[T]: ...


class Slot:
    """The folder of a model, and the model itself while it is in memory.

    All methods run in the event loop; learning and disk access run in threads. `gate` is held while the model is
    opened or closed, `changing` while it is created or deleted. `users` counts the requests that use the model; only
    a model without users is closed. Examples wait in a queue: one writer takes up to `group` requests at a time,
    learns them, commits once, and answers them all.

    Parameters
    ----------
    name : name of the model
    folder : folder of its journal and snapshot
    group : maximum number of requests in one commit
    in_thread : function that runs another one in a thread
    counts : counters of the server, "examples" and "commits"
    """

    def __init__(self, name: str, folder: Path, group: int, in_thread: InThread, counts: Counter[str]) -> None:
        self.name, self.folder, self._group, self._in_thread = name, folder, group, in_thread
        self._counts = counts
        self.gate, self.changing = asyncio.Lock(), asyncio.Lock()
        self.kept: DurableModel | None = None
        self.users, self.used_at, self.bytes = 0, 0.0, 0
        self.deleted = False
        self.batched = BatchedPredictions()
        self.warm = False  # True after the first question, which may have to load or compile
        self._taught = self._weigh_at = 0
        self._waiting: list[Waiting] = []
        self._writer: asyncio.Task[None] | None = None

    @property
    def durable(self) -> DurableModel:
        """The model with its journal; the caller must hold the slot."""
        if self.kept is None:
            raise RuntimeError(f"the model {self.name!r} is not in memory; hold it first.")
        return self.kept

    @property
    def model(self) -> Learner:
        """The estimator; the caller must hold the slot."""
        return self.durable.model

    def hold(self) -> None:
        """Keep the model from being closed."""
        self.users += 1
        self.used_at = time.monotonic()

    def release(self) -> None:
        """End what `hold` began."""
        self.users -= 1

    async def open(self, snapshot_every: int, fsync: bool) -> None:
        """Load the model; concurrent requests wait for the same load."""
        async with self.gate:
            if self.kept is None and not self.deleted and self.folder.is_dir():
                try:
                    self.kept = await self._in_thread(
                        DurableModel, self.folder, snapshot_every=snapshot_every, fsync=fsync
                    )
                except (TypeError, ValueError, KeyError) as problem:  # not the client's fault
                    raise JournalError(f"{self.folder} cannot be opened ({problem}).") from problem
                self.weigh()

    async def close(self) -> bool:
        """Write a snapshot and close the model; return False if it is in use."""
        async with self.gate:
            if self.users or self.kept is None:
                return False
            kept, self.kept, self.bytes = self.kept, None, 0
            await self._in_thread(_close, kept)
            return True

    def weigh(self) -> None:
        """Measure how much memory the model takes."""
        self.bytes = 0 if self.kept is None else bytes_of(self.kept.model)
        self._weigh_at = self._taught + min(WEIGH_EVERY, max(self._taught, 16))

    async def learn(self, examples: list[Example]) -> list[Receipt]:
        """Learn examples; they are on the disk when this returns. The caller must hold the slot."""
        done: asyncio.Future[list[Receipt]] = asyncio.get_running_loop().create_future()
        self._waiting.append((examples, done))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write())
        return await done

    async def _write(self) -> None:
        self.hold()  # a request may be cancelled before its turn
        try:
            while self._waiting:
                turn, self._waiting = self._waiting[: self._group], self._waiting[self._group :]
                await self._commit(turn)
        finally:
            self._writer = None
            self.release()

    async def _commit(self, turn: list[Waiting]) -> None:
        try:
            receipts = await self._in_thread(
                self.durable.learn_many, [example for examples, _ in turn for example in examples]
            )
        except Exception as problem:
            for _, done in turn:
                settle(done, problem)
            return
        self._count(sum(receipt.new for receipt in receipts))
        left = iter(receipts)
        for examples, done in turn:
            settle(done, list(islice(left, len(examples))))

    def _count(self, new: int) -> None:
        """Count a commit; weigh the model now and then, since no other writer runs between two commits."""
        self._counts["commits"] += 1
        self._counts["examples"] += new
        self._taught += new
        if self._taught >= self._weigh_at:
            self.weigh()


def _close(kept: DurableModel) -> None:
    with suppress(OSError):  # the journal is complete: the next opening learns from it
        if kept.is_ahead_of_its_snapshot:
            kept.snapshot()
    kept.close()
