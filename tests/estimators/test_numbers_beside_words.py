"""Columns of numbers beside words: numbers are standardised, words scaled by idf, exactly as the twin does."""

import numpy as np
import pytest
from tests.reference.learner import Twin
from tests.reference.vectors import VectorTwin

import hinged
from hinged.io.examples.chunk import Chunk, Strings

ROWS, NUMBERS, WORDS, LABELS = 60, 3, 12, 4


def stream(seed):
    """Columns of very different sizes with zeros and missing values, and words; as a matrix, and as a chunk."""
    rng = np.random.default_rng(seed)
    numbers = np.array([1e-3, 1.0, 1e6]) * (rng.normal(size=(ROWS, NUMBERS)) + np.array([5, 0, -3]))
    numbers[rng.random(numbers.shape) < 0.2] = 0.0
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    words = rng.random((ROWS, WORDS)) < 0.3
    words[0] = True  # so that their columns are known, and in order
    y = rng.integers(LABELS, size=ROWS)
    texts = [" ".join(f"w{i}" for i in np.flatnonzero(row)).encode() for row in words]
    columns = {f"n{i}": numbers[:, i].copy() for i in range(NUMBERS)}
    chunk = Chunk(y.tolist(), np.arange(ROWS), "x", texts={"text": Strings.joined(texts, ROWS)}, numbers=columns)
    return np.hstack([numbers, words]), y, chunk


def as_documents(X):
    """The same rows as dicts of fields."""
    return [
        {
            **{f"n{i}": None if np.isnan(x[i]) else float(x[i]) for i in range(NUMBERS)},
            "text": " ".join(f"w{i}" for i in np.flatnonzero(x[NUMBERS:])),
        }
        for x in X
    ]


def close(found, expected):
    expected = np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * max(1.0, np.max(np.abs(expected), initial=0.0)))


def text_classifier(**settings):
    return hinged.TextClassifier(sharing="multi", features=None, field_limit=None, **settings)


@pytest.mark.parametrize("kind", ["chunk", "text chunk", "documents"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("more", [{"normalize": True}, {"normalize": False, "bias": 0.5}, {"rule": "optimal"}], ids=str)
def test_labels_are_learnt_as_the_twin_learns_them(more, seed, kind):
    X, y, chunk = stream(seed)
    settings = {"rule": "pa1", "C": 0.3, "normalize": True, **more}
    twin = Twin(NUMBERS + WORDS, range(LABELS), scaling="idf", classes=range(LABELS), **settings)
    twin.scaler.numbers = NUMBERS
    weights = np.where(np.arange(ROWS) % 7 == 5, 0.0, 1.0)
    twin.run(X[:-5], y[:-5], weights[:-5])
    model = (hinged.Classifier if kind == "chunk" else text_classifier)(scaling="idf", **settings)
    whole = as_documents(X) if kind == "documents" else chunk
    given = [whole[:-5], whole[-5:]] if kind == "documents" else [chunk.taken(slice(0, 55)), chunk.taken(slice(55, 60))]
    told = hinged.evaluate.progressive(model, given[0], y[:-5], classes=range(LABELS), sample_weight=weights[:-5])
    assert told.flags.tolist() == twin.history.flags
    close(told.losses, twin.history.losses)
    close(model.decision_function(given[1]), twin.scores(X[-5:]))


@pytest.mark.parametrize(
    ("task", "estimator"),
    [("binary", hinged.BinaryClassifier), ("regression", hinged.Regressor), ("ordinal", hinged.OrdinalClassifier)],
)
def test_one_vector_is_learnt_as_the_twin_learns_it(task, estimator):
    X, y, chunk = stream(5)
    y = {"binary": y % 2, "regression": np.sin(np.arange(ROWS)), "ordinal": y}[task]
    more = {"epsilon": 0.05} if task == "regression" else {}
    own = {"target_scaling": None} if task == "regression" else {}
    twin = VectorTwin(NUMBERS + WORDS, task, "pa1", 0.5, k=LABELS, scaling="idf", bias=0.25, **more)
    twin.scaler.numbers = NUMBERS
    twin.run(X, y)
    model = estimator("pa1", 0.5, scaling="idf", normalize=False, average=False, bias=0.25, **more, **own)
    if task != "regression":
        model.declare(sorted(set(y.tolist())))
    told = hinged.evaluate.progressive(model, chunk, y.tolist())
    assert told.flags.tolist() == twin.flags
    close(told.losses, twin.losses)
    close(model.coef_.ravel(), twin.coef)


@pytest.mark.parametrize("new", [hinged.Classifier, text_classifier, hinged.TextClassifier, hinged.BinaryClassifier])
def test_a_row_alone_and_in_a_batch_saved_and_copied_gives_the_same_bits(tmp_path, new):
    _, y, chunk = stream(1)
    y = y % 2
    whole, alone = new(scaling="idf", normalize=True), new(scaling="idf", normalize=True)
    whole.partial_fit(chunk, y)
    alone.partial_fit(chunk.taken(slice(0, 20)), y[:20])
    alone.save(tmp_path / "model")
    alone = hinged.load(tmp_path / "model")
    for i in range(20, ROWS):
        alone.learn_one(chunk.taken(slice(i, i + 1)), y[i])
    assert (whole.decision_function(chunk) == alone.decision_function(chunk)).all()
    names = [
        name
        for name, _ in alone.explain(
            chunk.taken(slice(3, 4)), *([0] if new is not hinged.BinaryClassifier else []), top=None
        )
    ]
    assert {"n0", "n1", "n2"} & set(map(str, names))


def test_a_field_of_numbers_wants_numbers():
    model = hinged.TextClassifier()
    model.learn_one({"subject": "late again", "hours": 3}, "a")
    model.learn_one({"subject": "on time", "hours": None}, "b")
    model.learn_one({"subject": "on time", "hours": np.float32(0)}, "b")
    model.learn_one({"subject": "no hours"}, "b")
    with pytest.raises(TypeError, match="field 'hours' holds numbers; document 0 has 'three'"):
        model.learn_one({"subject": "late", "hours": "three"}, "a")
    with pytest.raises(ValueError, match="finite"):
        model.learn_one({"subject": "late", "hours": np.inf}, "a")
    with pytest.raises(TypeError, match="a text must be str or bytes"):
        model.learn_one({"subject": "late", "days": 3}, "a")
    assert model.n_known_features == 1 + 6
    assert model.n_rounds_ == 4


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_numbers_of_a_frame_are_read_like_those_of_dicts(library):
    module = pytest.importorskip(library)
    columns = {"subject": ["late again", "on time", "late"], "hours": [3.5, 0.0, 2.0], "new": [True, False, False]}
    frame = {"pyarrow": "table"}.get(library, "DataFrame")
    X = getattr(module, frame)(columns)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    by_frame, by_dicts = (
        hinged.TextClassifier().fit(X, ["a", "b", "a"]),
        hinged.TextClassifier().fit(rows, ["a", "b", "a"]),
    )
    assert (by_frame.decision_function(X) == by_dicts.decision_function(rows)).all()
    assert by_frame.n_known_features == 2 + 4
