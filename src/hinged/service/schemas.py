"""Bodies of requests and responses; the OpenAPI description is made of these."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from hinged.service.values import ESTIMATORS, LARGEST_WEIGHT, LONGEST_KEY, LONGEST_LABEL

__all__ = [
    "Ask",
    "Explain",
    "Explanation",
    "Failure",
    "Health",
    "Learn",
    "Learnt",
    "Listing",
    "Make",
    "Prediction",
    "Rank",
    "Ranking",
    "Saved",
    "Status",
]

NUMBER, TEXT = {"type": "number"}, {"type": "string"}
SCALAR = [TEXT, NUMBER, {"type": "boolean"}]
ROW = {
    "description": "A text; an object of field → text or of feature → number; a list of numbers; a sparse row "
    "{indices, values, width}; for a tagger a list of tokens: words, lists of feature names, or objects.",
    "anyOf": [TEXT, {"type": "object"}, {"type": "array"}],
    "examples": ["tax form due", {"tax": 1.0}, {"indices": [0, 7], "values": [1.0, 0.5]}],
}
LABEL = {
    "description": "A text, a number, true or false; a list of them for rankers and taggers. A text has at most "
    f"{LONGEST_LABEL:,} characters, a number at most 64 bits.",
    "anyOf": [*SCALAR, {"type": "array", "items": {"anyOf": SCALAR}}, {"type": "null"}],
    "examples": ["work"],
}
Row = Annotated[object, WithJsonSchema(ROW)]
Label = Annotated[object, WithJsonSchema(LABEL)]
Top = Annotated[int | None, Field(strict=True, ge=1, le=1_000_000)]  # strict: true is not a number


class Body(BaseModel):
    """A request body: no other fields, and true is not a number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Make(Body):
    """An estimator of this library, and its settings."""

    estimator: str = Field(examples=["TextClassifier"], json_schema_extra={"enum": list(ESTIMATORS)})
    settings: dict[str, object] = Field(default={}, examples=[{"rule": "pa1", "C": 0.5, "scaling": "auto"}])


class Learn(Body):
    """An example with its correct answer."""

    x: Row
    y: Label = None
    key: str | None = Field(
        None, max_length=LONGEST_KEY, description="An example with the same key and label is learnt once."
    )
    weight: float | None = Field(None, strict=True, ge=0, le=LARGEST_WEIGHT)


class Ask(Body):
    """An example."""

    x: Row


class Rank(Ask):
    """An example, and the number of labels to return."""

    top: Top = None


class Explain(Ask):
    """An example, and what to explain."""

    label: Label = None
    position: int | None = Field(None, strict=True, ge=0, description="Position of a token, for a tagger.")
    top: Top = 10


class Learnt(BaseModel):
    """The number of an example in the journal, and true if it was new."""

    seq: int
    new: bool


class Prediction(BaseModel):
    """The prediction; null before anything was learnt."""

    y: Label


class Ranked(BaseModel):
    """A label and its score."""

    label: Label
    score: float | None


class Ranking(BaseModel):
    """Labels, best first."""

    ranking: list[Ranked]


class Carrying(BaseModel):
    """A feature and its contribution to a score."""

    feature: object
    weight: float


class Explanation(BaseModel):
    """The features that contribute to a score, largest first."""

    features: list[Carrying]


class Status(BaseModel):
    """The settings of a model, encoded as in model files, and its progress."""

    name: str
    estimator: str
    settings: dict[str, object]
    settled: dict[str, object] = Field(
        description='What the model chose where a setting is "auto", and under "experts" the share in its answers of '
        "each C that learns side by side with others; empty before its first example."
    )
    rounds: int
    mistakes: int
    updates: int
    novel: int
    labels: list[Label]
    journal: int = Field(description="The last line of its journal.")


class Saved(BaseModel):
    """The last line of the journal that the snapshot includes."""

    journal: int


class Listed(BaseModel):
    """The name of a model, and true if it is in memory."""

    name: str
    loaded: bool


class Listing(BaseModel):
    """The models that a token may read."""

    models: list[Listed]


class Health(BaseModel):
    """The state and the version of the server."""

    status: str
    version: str


class Failure(BaseModel):
    """What went wrong, in one sentence."""

    error: str
