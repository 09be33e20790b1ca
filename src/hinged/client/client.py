"""Models of a server, used much like local ones."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import quote

from hinged.client.connection import Connection, Json, ServiceError

__all__ = ["Bulk", "Client", "Learnt", "RemoteModel", "Status"]

NDJSON, OCTETS = "application/x-ndjson", "application/octet-stream"
AT_ONCE = 4096  # examples in a request


class Learnt(NamedTuple):
    """The number of an example in the journal, and True if it was new."""

    seq: int
    new: bool


class Bulk(NamedTuple):
    """The result of learning many examples.

    Attributes
    ----------
    learnt : number of new examples
    repeated : number of those learnt before, by their keys
    refused : position of each refused example, from 0, and why
    """

    learnt: int
    repeated: int
    refused: dict[int, str]


class Status(NamedTuple):
    """The settings of a model, encoded as in model files, what it chose where they are "auto", and its progress."""

    name: str
    estimator: str
    settings: dict[str, Json]
    rounds: int
    mistakes: int
    updates: int
    novel: int
    labels: list[Json]
    journal: int
    settled: dict[str, Json] = {}  # of a server from before  # noqa: RUF012


class Client:
    """A client of `hinged serve`.

    Parameters
    ----------
    url : address of the server
    token : a token from `hinged serve --create-token`; None for an open server
    timeout : float, default 30
        Seconds to wait for a response.
    tries : int, default 6
        Maximum number of attempts if there is no response, or the server asks to wait. Examples have keys, so that one
        sent twice is learnt once.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from hinged.service import Settings, serving
    >>> with serving(Settings(Path(tempfile.mkdtemp()))) as (url, token), Client(url, token) as client:
    ...     mail = client.create("mail", "TextClassifier", rule="pa1")
    ...     mail.learn("tax form due", "work"), mail.learn("cake recipe", "home", key="message 2")
    ...     mail.learn_many([("the tax office", "work"), ("bake a cake", "home")] * 2)
    ...     mail.predict("the tax"), [label for label, score in mail.rank("a cake", top=1)]
    (Learnt(seq=1, new=True), Learnt(seq=2, new=True))
    Bulk(learnt=4, repeated=0, refused={})
    ('work', ['home'])
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 30.0, tries: int = 6) -> None:
        self._connection = Connection(url, token, timeout, tries)

    def create(self, name: str, estimator: str = "TextClassifier", **settings: Json) -> RemoteModel:
        """Create a model, or return the same one; a model of other settings with that name is an error."""
        model = self.model(name)
        self._connection.ask("PUT", model.path, {"estimator": estimator, "settings": settings})
        return model

    def create_from(self, name: str, file: str | os.PathLike[str]) -> RemoteModel:
        """Create a model that begins with what a model file holds; a model with that name is an error.

        It is sent once: if there is no response, the model may exist.
        """
        model = self.model(name)
        self._connection.send("PUT", f"{model.path}/snapshot", Path(file).read_bytes(), OCTETS, again=False)
        return model

    def model(self, name: str) -> RemoteModel:
        """Return a model by its name, without asking the server."""
        return RemoteModel(self._connection, name)

    def models(self) -> list[str]:
        """Return the names of the models that the token may read."""
        return [entry["name"] for entry in self._connection.ask("GET", "/v1/models")["models"]]

    def healthy(self) -> bool:
        """Return True if the server answers."""
        self._connection.close()  # the server may have closed an idle connection
        try:
            return bool(self._connection.ask("GET", "/healthz", again=False)["status"] == "ok")
        except ServiceError:
            return False

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class RemoteModel:
    """A model of a server; it takes the examples of its estimator, as far as JSON can represent them."""

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection, self.name = connection, name
        self.path = f"/v1/models/{quote(name, safe='')}"

    def learn(self, x: Json, y: Json = None, *, key: str | None = None, weight: float | None = None) -> Learnt:
        """Learn one example; it is on the server's disk when this returns."""
        example = {"x": x, "y": y, "key": key or secrets.token_hex(12), "weight": weight}
        return Learnt(**self._connection.ask("POST", f"{self.path}/learn", example))

    def learn_many(self, examples: Iterable[tuple[Json, Json]], *, again: bool = True) -> Bulk:
        """Learn pairs of (example, answer), many in a request.

        Parameters
        ----------
        examples : pairs, in order
        again : bool, default True
            Give each a key and try again if there is no response; without, it is faster.
        """
        learnt = repeated = begin = 0
        refused: dict[int, str] = {}
        run, pairs = secrets.token_hex(8), iter(examples)
        while some := list(islice(pairs, AT_ONCE)):
            keys = [{"key": f"{run}-{i}"} if again else {} for i in range(begin, begin + len(some))]
            rows = ({"x": x, "y": y, **key} for (x, y), key in zip(some, keys, strict=True))
            said = self._lines("learn-many", rows, again)
            refused |= {begin + one["line"] - 1: one["error"] for one in said if "line" in one}
            last: dict[str, Any] = next((one for one in reversed(said) if "line" not in one), {})
            if "error" in last:
                raise ServiceError(last["status"], last["error"])
            learnt, repeated, begin = learnt + last["learnt"], repeated + last["repeated"], begin + len(some)
        return Bulk(learnt, repeated, refused)

    def predict(self, x: Json) -> Json:
        """Predict one example."""
        return self._connection.ask("POST", f"{self.path}/predict", {"x": x})["y"]

    def predict_many(self, rows: Iterable[Json]) -> Iterator[Json]:
        """Yield predictions, many per request; a refused example raises."""
        given = iter(rows)
        while some := list(islice(given, AT_ONCE)):
            for said in self._lines("predict-many", ({"x": x} for x in some), True):
                if "error" in said:
                    raise ServiceError(said.get("status", 422), said["error"])
                yield said["y"]

    def rank(self, x: Json, top: int | None = None) -> list[tuple[Json, float]]:
        """Return labels with their scores, best first."""
        asked = {"x": x, "top": top}
        ranking = self._connection.ask("POST", f"{self.path}/rank", asked)["ranking"]
        return [(entry["label"], entry["score"]) for entry in ranking]

    def explain(
        self, x: Json, label: Json = None, *, position: int | None = None, top: int | None = 10
    ) -> list[tuple[Json, float]]:
        """Return the features that contribute to a label's score, largest first."""
        asked = {"x": x, "label": label, "position": position, "top": top}
        features = self._connection.ask("POST", f"{self.path}/explain", asked)["features"]
        return [(entry["feature"], entry["weight"]) for entry in features]

    def status(self) -> Status:
        """Return the settings and the progress of the model."""
        return Status(**self._connection.ask("GET", self.path))

    def snapshot(self) -> int:
        """Write a snapshot on the server; return the last line of the journal in it."""
        return int(self._connection.ask("POST", f"{self.path}/snapshot")["journal"])

    def download(self) -> bytes:
        """Return the model file of the last snapshot, for `hinged.load`."""
        return self._connection.send("GET", f"{self.path}/snapshot", None, "")

    def delete(self) -> None:
        """Delete the model and all it has learnt."""
        self._connection.ask("DELETE", self.path, again=False)

    def _lines(self, path: str, rows: Iterable[Json], again: bool) -> list[dict[str, Any]]:
        body = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        answer = self._connection.send("POST", f"{self.path}/{path}", body, NDJSON, again)
        return [json.loads(one) for one in answer.splitlines()]
