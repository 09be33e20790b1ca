"""Questions that come at the same time are answered at the same time: a batch costs little more than one."""

from __future__ import annotations

import asyncio
from typing import Any

from hinged.server.asking import predict_many

__all__ = ["Together"]


class Together:
    """Predictions of one model, gathered from the requests of one turn of the event loop."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Any, asyncio.Future[Any]]] = []

    async def predict(self, model: Any, x: Any) -> Any:
        """The answer for one example, or what refuses it."""
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        self._waiting.append((x, done))
        if len(self._waiting) == 1:
            loop.call_soon(self._answer, model)
        return await done

    def _answer(self, model: Any) -> None:
        turn, self._waiting = self._waiting, []
        answers = predict_many(model, [x for x, _ in turn])
        for (_, done), answer in zip(turn, answers, strict=True):
            if done.cancelled():
                continue
            if isinstance(answer, Exception):
                done.set_exception(answer)
            else:
                done.set_result(answer)
