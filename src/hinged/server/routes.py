"""The paths of the service; those that are asked most come first."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, BinaryIO

from starlette.responses import PlainTextResponse, Response, StreamingResponse

from hinged import __version__
from hinged.server import asking, schemas
from hinged.server.answers import NDJSON, Lines, as_json
from hinged.server.endpoint import Call, endpoint
from hinged.server.errors import Refused
from hinged.server.making import make_estimator
from hinged.server.streams import learn_lines, predict_lines

__all__ = ["ENDPOINTS", "metrics"]

SMALL = 1 << 14  # bytes of a body that is answered on the spot; a thread would cost more than that takes
PIECE = 1 << 18  # bytes of a file sent at a time
MODEL = "/v1/models/{name}"
OCTETS = "application/octet-stream"


@endpoint("POST", f"{MODEL}/learn", "write", schemas.Learn, schemas.Learnt)
async def learn(call: Call) -> Response:
    """Learn one example; it is on the disk when this answers."""
    body = call.body
    async with call.models.using(call.name) as slot:
        key = body.key or call.request.headers.get("idempotency-key")
        (receipt,) = await slot.learn([asking.example_for(slot.model, body.x, body.y, key, body.weight)])
    if receipt.error is not None:
        raise receipt.error
    return as_json({"seq": receipt.seq, "new": receipt.new})


@endpoint("POST", f"{MODEL}/predict", "read", schemas.Ask, schemas.Prediction)
async def predict(call: Call) -> Response:
    """The answer for one example; the model stays as it is."""
    async with call.models.using(call.name) as slot:
        if call.size <= SMALL and slot.warm:
            return as_json({"y": await slot.together.predict(slot.model, call.body.x)})
    return as_json({"y": await _asked(call, asking.predict, call.body.x)})


@endpoint("POST", f"{MODEL}/rank", "read", schemas.Rank, schemas.Ranking)
async def rank(call: Call) -> Response:
    """Labels from best to worst; the model stays as it is."""
    return as_json({"ranking": await _asked(call, asking.rank, call.body.x, call.body.top)})


@endpoint("POST", f"{MODEL}/explain", "read", schemas.Explain, schemas.Explanation)
async def explain(call: Call) -> Response:
    """The features that carry a label's score; the model stays as it is."""
    body = call.body
    return as_json({"features": await _asked(call, asking.explain, body.x, body.label, body.position, body.top)})


async def _asked(call: Call, question: Any, *about: Any) -> Any:
    """Ask a model, in a thread where that may take long."""
    async with call.models.using(call.name) as slot:
        if call.size <= SMALL and slot.warm:
            return question(slot.model, *about)
        answer = await call.models.in_thread(question, slot.model, *about)
        slot.warm = True
        return answer


@endpoint("POST", f"{MODEL}/learn-many", "write", '{"x": "tax form", "y": "work"}\n', NDJSON)
async def learn_many(call: Call) -> Response:
    """Learn a stream of examples, one JSON object in each line; what an answer's line counts is on the disk."""
    return await _streamed(call, learn_lines)


@endpoint("POST", f"{MODEL}/predict-many", "read", '{"x": "tax form"}\n', NDJSON)
async def predict_many(call: Call) -> Response:
    """Answer a stream of examples, one JSON object in each line; the model stays as it is."""
    return await _streamed(call, predict_lines)


async def _streamed(call: Call, answer: Any) -> Response:
    """A stream whose first piece is there before its status is sent: what fails at once has a status of its own."""

    async def with_first() -> AsyncIterator[bytes]:
        yield first
        async for piece in pieces:
            yield piece

    pieces = answer(call.request, call.models, call.models.find(call.name))
    first = await anext(pieces, b"")
    return Lines(with_first())


@endpoint("GET", "/v1/models", "known", None, schemas.Listing)
async def list_models(call: Call) -> Response:
    """The models that this token may read."""
    access = call.request.app.state.access
    loaded = {slot.name for slot in call.models.loaded()}
    names = [name for name in call.models.names() if access.may(call.request, name, "read")]
    return as_json({"models": [{"name": name, "loaded": name in loaded} for name in names]})


@endpoint("PUT", MODEL, "admin", schemas.Make, schemas.Status, (201, 200))
async def make(call: Call) -> Response:
    """Make a model: 201, or 200 where the same one is there already."""
    estimator = await call.models.in_thread(make_estimator, call.body.estimator, call.body.settings)
    async with call.models.making(call.name, estimator) as (slot, new):
        return as_json(asking.status(call.name, slot.durable), 201 if new else 200)


@endpoint("GET", MODEL, "read", None, schemas.Status)
async def status(call: Call) -> Response:
    """What a model is, and how far it has come."""
    async with call.models.using(call.name) as slot:
        return as_json(asking.status(call.name, slot.durable))


@endpoint("DELETE", MODEL, "admin", statuses=(204,))
async def delete(call: Call) -> Response:
    """Remove a model and all it was taught."""
    await call.models.delete(call.name)
    return Response(status_code=204)


@endpoint("POST", f"{MODEL}/snapshot", "write", None, schemas.Saved)
async def snapshot(call: Call) -> Response:
    """Write the model as it is now, so that it opens sooner."""
    async with call.models.using(call.name) as slot:
        await call.models.in_thread(slot.durable.snapshot)
        return as_json({"journal": slot.durable.journal.last})


@endpoint("GET", f"{MODEL}/snapshot", "read", None, OCTETS)
async def download(call: Call) -> Response:
    """The model file of the last snapshot; `hinged.load` reads it."""
    async with call.models.using(call.name) as slot:
        file = await call.models.in_thread(_opened, slot.folder / "snapshot.hinged")
    if file is None:
        raise Refused(409, f"there is no snapshot of {call.name!r} yet; POST to this path writes one.")

    async def pieces() -> AsyncIterator[bytes]:
        with file:
            while piece := await call.models.in_thread(file.read, PIECE):
                yield piece

    named = {"content-disposition": f'attachment; filename="{call.name}.hinged"'}
    size = {"content-length": str(os.fstat(file.fileno()).st_size)}
    return StreamingResponse(pieces(), headers={**named, **size}, media_type=OCTETS)


def _opened(path: Path) -> BinaryIO | None:
    """A file as it is now, whatever takes its place meanwhile; None where nothing was written yet."""
    try:
        file = open(path, "rb")  # noqa: SIM115 — closed by who reads it
    except FileNotFoundError:
        return None
    if os.fstat(file.fileno()).st_size:
        return file
    file.close()
    return None


@endpoint("GET", "/healthz", None, None, schemas.Health)
async def health(call: Call) -> Response:
    """That the server answers; needs no token."""
    return as_json({"status": "ok", "version": __version__})


@endpoint("GET", "/metrics", "read", None, "text/plain")
async def metrics(call: Call) -> Response:
    """Counts for Prometheus, where the server was started with them; needs a token that may read all models."""
    text = call.request.app.state.metrics.text(call.models)
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


ENDPOINTS = (
    learn,
    predict,
    rank,
    explain,
    learn_many,
    predict_many,
    list_models,
    make,
    status,
    delete,
    snapshot,
    download,
    health,
)
