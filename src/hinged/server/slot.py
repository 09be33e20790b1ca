"""One model of a server: opened when it is asked for, taught by one writer, closed when its room is needed."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hinged.journal import DurableModel, Example, JournalError, Receipt
from hinged.server.sizes import bytes_of
from hinged.server.together import Together

__all__ = ["Slot"]

InThread = Callable[..., Any]
WEIGH_EVERY = 1000  # examples, at last; a young model grows fast


class Slot:
    """Where a model lies, and the model itself while it is in memory.

    All of it is used from the event loop; what waits for the disk or learns long is done in threads. `gate` is held
    while the model is opened or closed, `changing` while it is made or deleted; `users` counts the requests that are
    using it, and only a model without users is closed. Those who want to teach wait in a queue; one writer takes all
    who wait, up to `group` of them, learns and commits once, and answers them all: many requests, one wait for the
    disk.

    Parameters
    ----------
    name : of the model
    folder : where its journal and snapshot lie
    group : most requests in one commit
    in_thread : runs a function in a thread
    counts : of the server: "examples" that were learnt, and "commits"
    """

    def __init__(self, name: str, folder: Path, group: int, in_thread: InThread, counts: Counter[str]) -> None:
        self.name, self.folder, self._group, self._in_thread = name, folder, group, in_thread
        self._counts = counts
        self.gate, self.changing = asyncio.Lock(), asyncio.Lock()
        self.kept: DurableModel | None = None
        self.users, self.used_at, self.bytes = 0, 0.0, 0
        self.gone = False
        self.together = Together()
        self.warm = False  # whether it was asked before: the first question may have to load or compile
        self._taught = self._weigh_at = 0
        self._waiting: list[tuple[list[Example], asyncio.Future[list[Receipt]]]] = []
        self._writer: asyncio.Task[None] | None = None

    @property
    def durable(self) -> DurableModel:
        """The model with its journal; for those who hold it."""
        if self.kept is None:
            raise RuntimeError(f"the model {self.name!r} is not in memory; hold it first.")
        return self.kept

    @property
    def model(self) -> Any:
        """The estimator; for those who hold it."""
        return self.durable.model

    def hold(self) -> None:
        """Keep the model from being closed."""
        self.users += 1
        self.used_at = time.monotonic()

    def let_go(self) -> None:
        """Allow it again."""
        self.users -= 1

    async def open(self, **how: Any) -> None:
        """Have the model in memory; whoever asks meanwhile waits for the same opening."""
        async with self.gate:
            if self.kept is None and not self.gone and self.folder.is_dir():
                try:
                    self.kept = await self._in_thread(DurableModel, self.folder, **how)
                except (TypeError, ValueError, KeyError) as problem:  # which no request is to blame for
                    raise JournalError(f"{self.folder} cannot be opened ({problem}).") from problem
                self.weigh()

    async def close(self) -> bool:
        """Write a snapshot and let go of the model, unless somebody uses it."""
        async with self.gate:
            if self.users or self.kept is None:
                return False
            kept, self.kept, self.bytes = self.kept, None, 0
            await self._in_thread(_close, kept)
            return True

    def weigh(self) -> None:
        """Look again how much memory the model takes."""
        self.bytes = 0 if self.kept is None else bytes_of(self.kept.model)
        self._weigh_at = self._taught + min(WEIGH_EVERY, max(self._taught, 16))

    async def learn(self, examples: list[Example]) -> list[Receipt]:
        """Teach examples; they are on the disk when this returns. The caller holds the model."""
        done: asyncio.Future[list[Receipt]] = asyncio.get_running_loop().create_future()
        self._waiting.append((examples, done))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write())
        return await done

    async def _write(self) -> None:
        self.hold()  # a request may be gone before its turn
        try:
            while self._waiting:
                turn, self._waiting = self._waiting[: self._group], self._waiting[self._group :]
                await self._commit(turn)
        finally:
            self._writer = None
            self.let_go()

    async def _commit(self, turn: list[tuple[list[Example], asyncio.Future[list[Receipt]]]]) -> None:
        try:
            receipts = await self._in_thread(
                self.durable.learn_many, [example for examples, _ in turn for example in examples]
            )
        except Exception as problem:
            for _, done in turn:
                if not done.done():
                    done.set_exception(problem)
            return
        new = sum(receipt.new for receipt in receipts)
        self._counts["commits"] += 1
        self._counts["examples"] += new
        self._taught += new
        if self._taught >= self._weigh_at:  # nobody else writes between two commits
            self.weigh()
        at = 0
        for examples, done in turn:
            if not done.done():
                done.set_result(receipts[at : at + len(examples)])
            at += len(examples)


def _close(kept: DurableModel) -> None:
    try:
        if kept.is_ahead_of_its_snapshot:
            kept.snapshot()
    except OSError:
        pass  # the journal has it all: the next opening learns it again
    kept.close()
