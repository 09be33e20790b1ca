"""The endpoints of the service, the most frequent ones first."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import BinaryIO, TypeVar, TypeVarTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from hinged import __version__
from hinged.estimators.learner import Learner
from hinged.service import asking, schemas
from hinged.service.endpoint import Call, endpoint
from hinged.service.models import Models
from hinged.service.responses import NDJSON, Lines, Refused, as_json
from hinged.service.slot import Slot
from hinged.service.streams import learn_lines, predict_lines
from hinged.service.uploads import model_in_body
from hinged.service.values import make_estimator

__all__ = ["ENDPOINTS", "metrics"]

Answer = TypeVar("Answer")
About = TypeVarTuple("About")
SMALL = 1 << 14  # bytes of a body that is answered in the event loop; a thread would cost more than the answer
PIECE = 1 << 18  # bytes of a file that are sent at a time
MODEL = "/v1/models/{name}"
OCTETS = "application/octet-stream"


@endpoint("POST", f"{MODEL}/learn", "write", schemas.Learn, schemas.Learnt)
async def learn(call: Call) -> Response:
    """Learn one example; it is on the disk when this answers."""
    body = call.body_as(schemas.Learn)
    async with call.models.using(call.name) as slot:
        key = body.key or call.request.headers.get("idempotency-key")
        (receipt,) = await slot.learn([asking.example_for(slot.model, body.x, body.y, key, body.weight)])
    if receipt.error is not None:
        raise receipt.error
    return as_json({"seq": receipt.seq, "new": receipt.new})


@endpoint("POST", f"{MODEL}/predict", "read", schemas.Ask, schemas.Prediction)
async def predict(call: Call) -> Response:
    """Predict one example; the model does not change."""
    body = call.body_as(schemas.Ask)
    async with call.models.using(call.name) as slot:
        if call.size <= SMALL and slot.warm:
            return as_json({"y": await slot.batched.predict(slot.model, body.x)})
    return as_json({"y": await _asked(call, asking.predict, body.x)})


@endpoint("POST", f"{MODEL}/rank", "read", schemas.Rank, schemas.Ranking)
async def rank(call: Call) -> Response:
    """Rank the labels, best first; the model does not change."""
    body = call.body_as(schemas.Rank)
    return as_json({"ranking": await _asked(call, asking.rank, body.x, body.top)})


@endpoint("POST", f"{MODEL}/explain", "read", schemas.Explain, schemas.Explanation)
async def explain(call: Call) -> Response:
    """Name the features that contribute to a label's score; the model does not change."""
    body = call.body_as(schemas.Explain)
    return as_json({"features": await _asked(call, asking.explain, body.x, body.label, body.position, body.top)})


async def _asked(call: Call, question: Callable[[Learner, *About], Answer], *about: *About) -> Answer:
    """Ask a model, in a thread if that may take long."""
    async with call.models.using(call.name) as slot:
        if call.size <= SMALL and slot.warm:
            return question(slot.model, *about)
        answer = await call.models.in_thread(question, slot.model, *about)
        slot.warm = True
        return answer


@endpoint("POST", f"{MODEL}/learn-many", "write", '{"x": "tax form", "y": "work"}\n', NDJSON)
async def learn_many(call: Call) -> Response:
    """Learn a stream of examples, one JSON object per line; examples counted in a response line are on the disk."""
    return await _streamed(call, learn_lines)


@endpoint("POST", f"{MODEL}/predict-many", "read", '{"x": "tax form"}\n', NDJSON)
async def predict_many(call: Call) -> Response:
    """Predict a stream of examples, one JSON object per line; the model does not change."""
    return await _streamed(call, predict_lines)


async def _streamed(call: Call, answer: Callable[[Request, Models, Slot], AsyncIterator[bytes]]) -> Response:
    """Compute the first piece before the status is sent, so that an immediate failure gets a status of its own."""

    async def with_first() -> AsyncIterator[bytes]:
        yield first
        async for piece in pieces:
            yield piece

    pieces = answer(call.request, call.models, call.models.find(call.name))
    first = await anext(pieces, b"")
    return Lines(with_first())


@endpoint("GET", "/v1/models", "known", None, schemas.Listing)
async def list_models(call: Call) -> Response:
    """List the models that this token may read."""
    access = call.request.app.state.access
    loaded = {slot.name for slot in call.models.loaded()}
    names = [name for name in call.models.names() if access.may(call.request, name, "read")]
    return as_json({"models": [{"name": name, "loaded": name in loaded} for name in names]})


@endpoint("PUT", MODEL, "admin", schemas.Make, schemas.Status, (201, 200))
async def make(call: Call) -> Response:
    """Create a model: 201, or 200 if the same one exists."""
    body = call.body_as(schemas.Make)
    estimator = await call.models.in_thread(make_estimator, body.estimator, body.settings)
    async with call.models.making(call.name, estimator) as (slot, new):
        return as_json(asking.status(call.name, slot.durable), 201 if new else 200)


@endpoint("GET", MODEL, "read", None, schemas.Status)
async def status(call: Call) -> Response:
    """Show the settings and the progress of a model."""
    async with call.models.using(call.name) as slot:
        return as_json(asking.status(call.name, slot.durable))


@endpoint("DELETE", MODEL, "admin", statuses=(204,))
async def delete(call: Call) -> Response:
    """Delete a model and all it has learnt."""
    await call.models.delete(call.name)
    return Response(status_code=204)


@endpoint("POST", f"{MODEL}/snapshot", "write", None, schemas.Saved)
async def snapshot(call: Call) -> Response:
    """Write a snapshot of the model, so that it opens faster."""
    async with call.models.using(call.name) as slot:
        await call.models.in_thread(slot.durable.snapshot)
        return as_json({"journal": slot.durable.journal.last})


@endpoint("PUT", f"{MODEL}/snapshot", "admin", OCTETS, schemas.Status, (201,))
async def upload(call: Call) -> Response:
    """Create a model that begins with what a model file holds; an existing model is never replaced."""
    estimator = await model_in_body(call)
    async with call.models.making(call.name, estimator) as (slot, new):
        if not new:
            raise Refused(409, f"a model {call.name!r} exists; choose another name, or delete it.")
        return as_json(asking.status(call.name, slot.durable), 201)


@endpoint("GET", f"{MODEL}/snapshot", "read", None, OCTETS)
async def download(call: Call) -> Response:
    """Download the model file of the last snapshot, for `hinged.load`."""
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
    """Open a file, which stays readable even if it is replaced; None if it is missing or empty."""
    try:
        file = open(path, "rb")  # noqa: SIM115 — the caller closes it
    except FileNotFoundError:
        return None
    if os.fstat(file.fileno()).st_size:
        return file
    file.close()
    return None


@endpoint("GET", "/healthz", None, None, schemas.Health)
async def health(call: Call) -> Response:
    """Check that the server answers; needs no token."""
    return as_json({"status": "ok", "version": __version__})


@endpoint("GET", "/metrics", "read", None, "text/plain")
async def metrics(call: Call) -> Response:
    """Metrics for Prometheus, if the server was started with them; needs a token that may read all models."""
    return PlainTextResponse(call.request.app.state.metrics.text(), media_type="text/plain; version=0.0.4")


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
    upload,
    download,
    health,
)
