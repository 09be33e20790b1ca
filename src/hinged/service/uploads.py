"""Model files that clients send, for a model to begin with."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hinged.estimators.files import load
from hinged.estimators.learner import Learner
from hinged.journal.estimator_settings import plain_settings
from hinged.service.endpoint import Call
from hinged.service.responses import Refused
from hinged.service.values import as_label, make_estimator

__all__ = ["model_in_body"]


async def model_in_body(call: Call) -> Learner:
    """Return the model in the file that is the body of a request; it may be as large as the memory for all models."""
    most, size = call.models.settings.memory, 0
    with tempfile.TemporaryDirectory(dir=call.models.folder, prefix=".upload-") as folder:
        path = Path(folder) / "model"
        with path.open("wb") as file:
            async for piece in call.request.stream():
                size += len(piece)
                if size > most:
                    raise Refused(413, f"the model file is too large; {most:,} bytes are allowed.")
                file.write(piece)
        return await call.models.in_thread(_loaded, path)


def _loaded(path: Path) -> Learner:
    """Return the model of a file that a client sent; refuse what `PUT` on the model and `learn` would refuse too."""
    try:
        model: Learner = load(path)
    except ValueError as problem:
        raise Refused(422, str(problem).replace(str(path), "the body")) from None
    plain = plain_settings(model)
    make_estimator(plain["estimator"], plain["settings"])
    as_label(list(model.known_labels()))
    return model
