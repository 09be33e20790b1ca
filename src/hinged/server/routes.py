"""The paths of the service."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import FileResponse, Response, StreamingResponse

from hinged.journal import Example
from hinged.server import asking
from hinged.server.access import Access
from hinged.server.answers import as_json
from hinged.server.errors import Refused
from hinged.server.inputs import as_label
from hinged.server.making import make_estimator
from hinged.server.models import Models
from hinged.server.requests import JsonRoute
from hinged.server.schemas import (
    Ask,
    Explain,
    Explanation,
    Failure,
    Learn,
    Learnt,
    Listing,
    Make,
    ModelName,
    Prediction,
    Rank,
    Ranking,
    Saved,
    Status,
)
from hinged.server.streams import learn_lines, predict_lines

__all__ = ["router"]

SMALL = 1 << 14  # bytes of a body that is answered on the spot; threads cost more than that takes
NDJSON = "application/x-ndjson"
WRONG: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure, "description": what}
    for status, what in {
        400: "broken JSON",
        401: "no token, or one nobody knows",
        403: "a token for something else",
        404: "no such model",
        409: "not as things are: another model of that name, or nothing learnt yet",
        413: "too large",
        422: "not what this takes",
        429: "too many requests",
        503: "the model is in use elsewhere, or cannot be read",
        507: "the disk is full",
    }.items()
}


def _stream(entry: str, what: str) -> dict[str, Any]:
    """What OpenAPI says of a stream."""
    body = {"content": {NDJSON: {"schema": {"type": "string", "examples": [entry]}}}, "required": True}
    answer = {"description": what, "content": {NDJSON: {"schema": {"type": "string"}}}}
    return {"requestBody": body, "responses": {"200": answer}}


router = APIRouter(prefix="/v1", route_class=JsonRoute, responses=WRONG)
Key = Annotated[str | None, Header(max_length=200, description="As `key` in the body.")]


def allowed(scope: str) -> Any:
    """A request must have a token with this scope for the model it names."""

    async def check(request: Request) -> Models:
        access: Access = request.app.state.access
        access.check(request, request.path_params.get("name", "*"), scope)
        models: Models = request.app.state.models
        return models

    return Depends(check)


Reading = Annotated[Models, allowed("read")]
Writing = Annotated[Models, allowed("write")]
Ruling = Annotated[Models, allowed("admin")]


@router.get("/models", response_model=Listing)
async def list_models(request: Request) -> Response:
    """The models that this token may read."""
    models, access = request.app.state.models, request.app.state.access
    access.check_known(request)
    loaded = {slot.name for slot in models.loaded()}
    names = [name for name in models.names() if access.may(request, name, "read")]
    return as_json({"models": [{"name": name, "loaded": name in loaded} for name in names]})


@router.put("/models/{name}", response_model=Status, responses={201: {"model": Status}})
async def make(name: ModelName, body: Make, models: Ruling) -> Response:
    """Make a model: 201, or 200 where the same one is there already."""
    estimator = await models.in_thread(make_estimator, body.estimator, body.settings)
    new = await models.create(name, estimator)
    async with models.using(name) as slot:
        return as_json(asking.status(name, slot.kept), 201 if new else 200)


@router.get("/models/{name}", response_model=Status)
async def status(name: ModelName, models: Reading) -> Response:
    """What a model is, and how far it has come."""
    async with models.using(name) as slot:
        return as_json(asking.status(name, slot.kept))


@router.delete("/models/{name}", status_code=204)
async def delete(name: ModelName, models: Ruling) -> Response:
    """Remove a model and all it was taught."""
    await models.delete(name)
    return Response(status_code=204)


@router.post("/models/{name}/learn", response_model=Learnt)
async def learn(name: ModelName, body: Learn, models: Writing, idempotency_key: Key = None) -> Response:
    """Learn one example; it is on the disk when this answers."""
    async with models.using(name) as slot:
        x, y = asking.row_for(slot.kept.model, body.x), as_label(body.y)
        (receipt,) = await slot.learn([Example(x, y, body.key or idempotency_key, body.weight)])
    if receipt.error is not None:
        raise receipt.error
    return as_json({"seq": receipt.seq, "new": receipt.new})


async def _asked(request: Request, models: Models, name: str, question: Any, *about: Any) -> Any:
    """Ask a model, in a thread where that may take long."""
    async with models.using(name) as slot:
        model = slot.kept.model
        if len(await request.body()) <= SMALL:
            return question(model, *about)
        return await models.in_thread(question, model, *about)


@router.post("/models/{name}/predict", response_model=Prediction)
async def predict(request: Request, name: ModelName, body: Ask, models: Reading) -> Response:
    """The answer for one example; the model stays as it is."""
    return as_json({"y": await _asked(request, models, name, asking.predict, body.x)})


@router.post("/models/{name}/rank", response_model=Ranking)
async def rank(request: Request, name: ModelName, body: Rank, models: Reading) -> Response:
    """Labels from best to worst; the model stays as it is."""
    return as_json({"ranking": await _asked(request, models, name, asking.rank, body.x, body.top)})


@router.post("/models/{name}/explain", response_model=Explanation)
async def explain(request: Request, name: ModelName, body: Explain, models: Reading) -> Response:
    """The features that carry a label's score."""
    about = (body.x, body.label, body.position, body.top)
    return as_json({"features": await _asked(request, models, name, asking.explain, *about)})


@router.post("/models/{name}/snapshot", response_model=Saved)
async def snapshot(name: ModelName, models: Writing) -> Response:
    """Write the model as it is now, so that it opens sooner."""
    async with models.using(name) as slot:
        await models.in_thread(slot.kept.snapshot)
        return as_json({"journal": slot.kept.journal.last})


@router.get("/models/{name}/snapshot", response_class=FileResponse)
async def download(name: ModelName, models: Reading) -> Response:
    """The model file of the last snapshot; `hinged.load` reads it."""
    async with models.using(name) as slot:
        path = slot.folder / "snapshot.hinged"
        if not path.exists():
            raise Refused(409, f"there is no snapshot of {name!r} yet; POST to this path writes one.")
        return FileResponse(path, media_type="application/octet-stream", filename=f"{name}.hinged")


@router.post(
    "/models/{name}/learn-many",
    openapi_extra=_stream('{"x": "tax form", "y": "work"}\n', "how far it is, after every chunk"),
    response_class=StreamingResponse,
)
async def learn_many(request: Request, name: ModelName, models: Writing) -> Response:
    """Learn a stream of examples, one JSON object in each line; what an answer's line counts is on the disk."""
    return await _streamed(request, models, name, learn_lines)


@router.post(
    "/models/{name}/predict-many",
    openapi_extra=_stream('{"x": "tax form"}\n', "an answer for each line"),
    response_class=StreamingResponse,
)
async def predict_many(request: Request, name: ModelName, models: Reading) -> Response:
    """Answer a stream of examples, one JSON object in each line."""
    return await _streamed(request, models, name, predict_lines)


async def _streamed(request: Request, models: Models, name: str, answer: Any) -> Response:
    """A stream whose first piece is there before its status is sent, so that what fails at once has its own status."""
    using = models.using(name)
    slot = await using.__aenter__()

    async def rest(first: bytes | None) -> Any:
        try:
            if first is not None:
                yield first
            async for piece in pieces:
                yield piece
        finally:
            await using.__aexit__(None, None, None)

    pieces = answer(request, models, slot)
    try:
        first = await anext(pieces, None)
    except BaseException:
        await using.__aexit__(None, None, None)
        raise
    return StreamingResponse(rest(first), media_type=NDJSON)
