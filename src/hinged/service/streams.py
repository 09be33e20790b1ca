"""NDJSON streams: many examples in one request, processed chunk by chunk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import NamedTuple, TypeGuard

import orjson
from starlette.requests import Request

from hinged.estimators.learner import Learner
from hinged.journal import Example, Receipt
from hinged.service.asking import example_for, predict_many
from hinged.service.models import Models
from hinged.service.responses import Refused, line, refusal_of
from hinged.service.slot import Slot

__all__ = ["learn_lines", "predict_lines"]

CHUNK_BYTES = 1 << 18
AHEAD = 2  # chunks that may wait for the disk while the next one is read
NAMES = {"x", "y", "key", "weight"}
Learning = asyncio.Task[list[Receipt]]  # a chunk that is being learnt


async def chunks_of(request: Request, most: int) -> AsyncIterator[list[bytes]]:
    """Yield complete lines of a body, about `CHUNK_BYTES` at a time; refuse a line longer than `most` bytes."""
    rest, size = [], 0
    async for piece in request.stream():
        rest.append(piece)
        size += len(piece)
        if size >= CHUNK_BYTES:
            whole, newline, left = b"".join(rest).rpartition(b"\n")
            if newline:
                for lines in _short(whole.split(b"\n"), most):
                    yield lines
            rest, size = [left], len(left)
            if size > most:
                raise _too_long(most)
    last = b"".join(rest)
    if last.strip():
        for lines in _short(last.split(b"\n"), most):
            yield lines


def _short(lines: list[bytes], most: int) -> Iterator[list[bytes]]:
    """Yield the lines before the first one that is too long; refuse that one."""
    long = next((place for place, one in enumerate(lines) if len(one) > most), None)
    if long is None:
        yield lines
    else:
        if long:
            yield lines[:long]
        raise _too_long(most)


def _too_long(most: int) -> Refused:
    return Refused(413, f"a line of the stream is too long; {most:,} bytes are allowed.")


def read_lines(lines: list[bytes]) -> list[object]:
    """Parse each line that is not empty; give an exception for a line that is not JSON."""
    lines = [one for one in lines if one.strip()]
    if _one_each(lines):
        with suppress(orjson.JSONDecodeError):
            return list(orjson.loads(b"[" + b",".join(lines) + b"]"))
    return [_read(one) for one in lines]


def _one_each(lines: list[bytes]) -> bool:
    """Return True if every line looks like one object, so that all of them can be parsed as one array."""
    return all(one[:1] == b"{" and one.rstrip()[-1:] == b"}" for one in lines)


def _read(one: bytes) -> object:
    try:
        return orjson.loads(one)
    except orjson.JSONDecodeError as problem:
        return ValueError(f"this line is not JSON ({problem}).")


def example_of(entry: object, model: Learner) -> Example:
    """Return the example of a line, or raise what refuses it."""
    if isinstance(entry, Exception):
        raise entry
    if type(entry) is not dict or "x" not in entry or not entry.keys() <= NAMES:
        raise ValueError("a line is an object with x and y, and optionally key and weight.")
    return example_for(model, entry["x"], entry.get("y"), entry.get("key"), entry.get("weight"))


class ParsedLines(NamedTuple):
    """Some lines of a stream: their examples, the lines that were refused, by position, and the number of lines."""

    examples: list[Example]
    refused: dict[int, Exception]
    size: int


def _chunk_of(lines: list[bytes], model: Learner) -> ParsedLines:
    entries = read_lines(lines)
    chunk = ParsedLines([], {}, len(entries))
    for place, entry in enumerate(entries):
        try:
            chunk.examples.append(example_of(entry, model))
        except (TypeError, ValueError) as problem:
            chunk.refused[place] = problem
    return chunk


async def learn_lines(request: Request, models: Models, slot: Slot) -> AsyncIterator[bytes]:
    """Learn a stream; after each chunk that is on the disk, a line reports the progress.

    Refused lines are named and do not stop the others. Chunks are read while earlier ones wait for the disk.
    """
    counts = {"lines": 0, "learnt": 0, "repeated": 0, "refused": 0, "seq": 0}
    waiting: list[tuple[Learning, ParsedLines]] = []
    broken: list[Exception] = []
    try:
        async for lines in _until_broken(chunks_of(request, models.settings.max_body), broken):
            async with models.holding(slot):
                chunk = await models.in_thread(_chunk_of, lines, slot.model)
            before = waiting[-1][0] if waiting else None
            waiting.append((asyncio.create_task(_learn(models, slot, chunk.examples, before)), chunk))
            if len(waiting) >= AHEAD:
                yield await _acknowledge(*waiting.pop(0), counts)
        while waiting:
            yield await _acknowledge(*waiting.pop(0), counts)
        if broken:
            raise broken[0]
    except Exception as problem:
        refusal = refusal_of(problem)
        await _cancel([task for task, _ in waiting])
        if not counts["lines"]:
            raise refusal from problem
        yield line({**counts, "status": refusal.status, "error": refusal.sentence})
        return
    yield line({**counts, "done": True})


async def _cancel(tasks: list[Learning]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _until_broken(chunks: AsyncIterator[list[bytes]], why: list[Exception]) -> AsyncIterator[list[bytes]]:
    """Yield chunks until reading fails: chunks before that are still learnt and acknowledged."""
    try:
        async for lines in chunks:
            yield lines
    except Exception as problem:
        why.append(problem)


async def _learn(models: Models, slot: Slot, examples: list[Example], before: Learning | None) -> list[Receipt]:
    """Learn a chunk, unless the one before it failed."""
    if before is not None:
        await before
    async with models.holding(slot):
        return await slot.learn(examples)


async def _acknowledge(task: Learning, chunk: ParsedLines, counts: dict[str, int]) -> bytes:
    """Return the response lines for a chunk, once it is on the disk."""
    receipts = iter(await task)
    said = []
    for place in range(chunk.size):
        error = chunk.refused.get(place)
        if error is None:
            receipt = next(receipts)
            error = receipt.error
            counts["learnt"] += receipt.new
            counts["repeated"] += receipt.seq > 0 and not receipt.new
            counts["seq"] = max(counts["seq"], receipt.seq)
        if error is not None:
            counts["refused"] += 1
            said.append(line({"line": counts["lines"] + place + 1, "error": refusal_of(error).sentence}))
    counts["lines"] += chunk.size
    return b"".join([*said, line(counts)])


async def predict_lines(request: Request, models: Models, slot: Slot) -> AsyncIterator[bytes]:
    """Yield a prediction or an error for each line of a stream; if the stream fails, a last line says why."""
    answered = False
    try:
        async for lines in chunks_of(request, models.settings.max_body):
            async with models.holding(slot):
                piece = await models.in_thread(_predictions, lines, slot.model)
            yield piece
            answered = True
    except Exception as problem:
        refusal = refusal_of(problem)
        if not answered:
            raise refusal from problem
        yield line({"status": refusal.status, "error": refusal.sentence})


def _predictions(lines: list[bytes], model: Learner) -> bytes:
    entries = read_lines(lines)
    answers = iter(predict_many(model, [entry["x"] for entry in entries if _asks(entry)]))
    return b"".join(_predicted(next(answers) if _asks(entry) else _not_asking(entry)) for entry in entries)


def _asks(entry: object) -> TypeGuard[dict[str, object]]:
    return type(entry) is dict and "x" in entry


def _not_asking(entry: object) -> Exception:
    return entry if isinstance(entry, Exception) else ValueError("a line is an object with x.")


def _predicted(answer: object) -> bytes:
    return line({"error": refusal_of(answer).sentence} if isinstance(answer, Exception) else {"y": answer})
