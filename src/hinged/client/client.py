"""Models of a server, used much like those of this process."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Self
from urllib.parse import quote

from hinged.client.connection import Connection, ServiceError
from hinged.client.results import Bulk, Learnt, Status

__all__ = ["Client", "RemoteModel"]

NDJSON = "application/x-ndjson"
AT_ONCE = 4096  # examples in a request


class Client:
    """A server of `hinged serve`.

    Parameters
    ----------
    url : where it listens
    token : what it was told by `hinged serve --create-token`; None for an open server
    timeout : float, default 30
        Seconds to wait for an answer.
    tries : int, default 6
        How often a request is sent at most where no answer comes, or the server asks to wait. Examples carry keys, so
        that one which is sent twice is learnt once.

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

    def create(self, name: str, estimator: str = "TextClassifier", **settings: Any) -> RemoteModel:
        """Make a model, or find the same one; another one of that name is an error."""
        model = self.model(name)
        self._connection.ask("PUT", model.path, {"estimator": estimator, "settings": settings})
        return model

    def model(self, name: str) -> RemoteModel:
        """A model by its name; nothing is asked yet."""
        return RemoteModel(self._connection, name)

    def models(self) -> list[str]:
        """The names of the models that the token may read."""
        return [entry["name"] for entry in self._connection.ask("GET", "/v1/models")["models"]]

    def healthy(self) -> bool:
        """Whether the server answers."""
        self._connection.close()  # one that rested may have been given up by the server
        try:
            return bool(self._connection.ask("GET", "/healthz", again=False)["status"] == "ok")
        except ServiceError:
            return False

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class RemoteModel:
    """A model of a server; examples are what its estimator takes, as far as JSON has it."""

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection, self.name = connection, name
        self.path = f"/v1/models/{quote(name, safe='')}"

    def learn(self, x: Any, y: Any = None, *, key: str | None = None, weight: float | None = None) -> Learnt:
        """Teach one example; it is on the server's disk when this returns."""
        example = {"x": x, "y": y, "key": key or secrets.token_hex(12), "weight": weight}
        return Learnt(**self._connection.ask("POST", f"{self.path}/learn", example))

    def learn_many(self, examples: Iterable[tuple[Any, Any]], *, again: bool = True) -> Bulk:
        """Teach pairs of (example, answer), many in a request.

        Parameters
        ----------
        examples : in order
        again : bool, default True
            Give each a key and try again where no answer came; without, it is faster.
        """
        learnt = repeated = begin = 0
        refused: dict[int, str] = {}
        run, pairs = secrets.token_hex(8), iter(examples)
        while some := list(islice(pairs, AT_ONCE)):
            rows: Iterator[dict[str, Any]] = ({"x": x, "y": y} for x, y in some)
            if again:
                rows = ({**row, "key": f"{run}-{i}"} for i, row in enumerate(rows, begin))
            last: dict[str, Any] = {}
            for said in self._lines("learn-many", rows, again):
                if "line" in said:
                    refused[begin + said["line"] - 1] = said["error"]
                else:
                    last = said
            if "error" in last:
                raise ServiceError(last["status"], last["error"])
            learnt, repeated, begin = learnt + last["learnt"], repeated + last["repeated"], begin + len(some)
        return Bulk(learnt, repeated, refused)

    def predict(self, x: Any) -> Any:
        """The answer for one example."""
        return self._connection.ask("POST", f"{self.path}/predict", {"x": x})["y"]

    def predict_many(self, rows: Iterable[Any]) -> Iterator[Any]:
        """The answer for each example, many in a request; one that is refused raises."""
        given = iter(rows)
        while some := list(islice(given, AT_ONCE)):
            for said in self._lines("predict-many", ({"x": x} for x in some), True):
                if "error" in said:
                    raise ServiceError(said.get("status", 422), said["error"])
                yield said["y"]

    def rank(self, x: Any, top: int | None = None) -> list[tuple[Any, float]]:
        """Labels with their scores, from best to worst."""
        asked = {"x": x, "top": top}
        ranking = self._connection.ask("POST", f"{self.path}/rank", asked)["ranking"]
        return [(entry["label"], entry["score"]) for entry in ranking]

    def explain(
        self, x: Any, label: Any = None, *, position: int | None = None, top: int | None = 10
    ) -> list[tuple[Any, float]]:
        """The features that carry a label's score, largest first."""
        asked = {"x": x, "label": label, "position": position, "top": top}
        features = self._connection.ask("POST", f"{self.path}/explain", asked)["features"]
        return [(entry["feature"], entry["weight"]) for entry in features]

    def status(self) -> Status:
        """What the model is, and how far it has come."""
        return Status(**self._connection.ask("GET", self.path))

    def snapshot(self) -> int:
        """Write the model to the server's disk; the line of the journal it goes up to."""
        return int(self._connection.ask("POST", f"{self.path}/snapshot")["journal"])

    def download(self) -> bytes:
        """The model file of the last snapshot, for `hinged.load`."""
        return self._connection.send("GET", f"{self.path}/snapshot", None, "")

    def delete(self) -> None:
        """Remove the model and all it was taught."""
        self._connection.ask("DELETE", self.path, again=False)

    def _lines(self, path: str, rows: Iterable[Any], again: bool) -> list[dict[str, Any]]:
        body = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        answer = self._connection.send("POST", f"{self.path}/{path}", body, NDJSON, again)
        return [json.loads(one) for one in answer.splitlines()]
