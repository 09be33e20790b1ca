"""What "auto" stands for: settings that a learner chooses by itself, from its other settings and its first row."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from hinged.estimators.forgetting_settings import weights_fade
from hinged.estimators.reader import Batch
from hinged.geometry.choice import on_simplex
from hinged.io import to_json
from hinged.io.examples.chunk import Chunk
from hinged.loops.experts import SOFT
from hinged.loops.rows import MOMENTS, Dense
from hinged.mercer.fourier import remembers_rows
from hinged.mercer.functions import reads_scaled
from hinged.rules.table import RULES, Optimal, name_of, reads_cap
from hinged.sharing.plan import BEFORE_EVIDENCE, chosen_features
from hinged.sharing.plan import resolve as resolve_sharing

__all__ = [
    "FirstRow",
    "choices_before",
    "choices_of_labels",
    "choices_of_ranks",
    "choices_of_vector",
    "first_row_of",
    "is_auto",
    "settled_as_json",
]

BIAS_OF_SETS = 0.5  # the least constant feature for label sets, whose labels differ in frequency
#: Where a row asks for much at once, of which wrong labels make some impossible: sets and ranks.
SOFTLY = Optimal(slack=1.0)


class FirstRow(NamedTuple):
    """What the first row that was learnt looked like; nothing else of the input decides a setting."""

    n_values: int
    dense: bool  # it had a value in every column
    words: bool = False  # its values were counts, most of them 1


#: What is assumed where settings are checked before there is a row.
NO_ROW = FirstRow(1, dense=True)


def first_row_of(batch: Batch) -> FirstRow:
    """Look at the first row of a batch. Only matrices, frames and tables of numbers are dense: others may have gaps."""
    n, given = int(batch.rows.indptr[1] - batch.rows.indptr[0]), batch.given
    if isinstance(batch.rows, Dense):
        return FirstRow(n, dense=True)
    values = batch.rows.data[:n]
    words = bool((values == np.floor(values)).all() and 2 * np.count_nonzero(values == 1) >= n)
    if isinstance(given, Chunk):  # a table has all its columns, though cells may be missing
        columns, texts = len(given.numbers), len(given.texts)
        return FirstRow(columns + texts if columns else n, columns > 0 == texts, words and columns == 0)
    is_table = isinstance(given, np.ndarray) or hasattr(given, "columns")
    return FirstRow(n, is_table and n == batch.width, words)


def is_auto(value: object) -> bool:
    """Return True if a setting is left to the learner."""
    return isinstance(value, str) and value == "auto"


def settled_as_json(model: object) -> dict[str, object]:
    """Return what a learner's `settled_` and `experts_` say, as plain JSON; empty before its first row.

    Examples
    --------
    >>> import hinged
    >>> settled = settled_as_json(hinged.Classifier().fit([[1.0, 2.0], [2.0, 1.0]], ["a", "b"]))
    >>> settled["scaling"], list(settled["experts"])
    ('standard', ['0.31622776601683794', '3.1622776601683795', 'mean'])
    """
    settled: dict[str, object] = getattr(model, "settled_", {})
    plain = {n: list(v) if isinstance(v, tuple) else to_json(n, v) for n, v in settled.items()}
    shares = {str(cap): share for cap, share in getattr(model, "experts_", {}).items()} if settled else {}
    return plain | ({"experts": shares} if shares else {})


class LabelChoices(Protocol):
    """Settings of learners of labels that the choices depend on."""

    @property
    def rule(self) -> object: ...

    @property
    def scaling(self) -> object: ...

    @property
    def sharing(self) -> object: ...

    @property
    def features(self) -> object: ...

    @property
    def geometry(self) -> object: ...

    @property
    def normalize(self) -> object: ...

    @property
    def kernel(self) -> object: ...


def choices_of_labels(who: LabelChoices, row: FirstRow | None, sets: bool) -> dict[str, object]:
    """Return what each setting would be if it were "auto", for a learner of labels or of label sets.

    Examples
    --------
    >>> import hinged
    >>> columns = choices_of_labels(hinged.Classifier(), FirstRow(16, dense=True), sets=False)
    >>> columns["scaling"], columns["bias"], columns["rule"]
    ('standard', 0.25, 'optimal')
    >>> shared = hinged.Classifier(sharing="hybrid", features="tfidf")
    >>> choices_of_labels(shared, FirstRow(3, dense=False), sets=False)["scaling"]
    'idf'
    """
    row = row or NO_ROW
    linear = not remembers_rows(who.kernel) and on_simplex(who.geometry) is None
    of_their_own = linear and isinstance(who.sharing, str) and who.sharing == "multi"
    rule: object = who.rule
    if is_auto(rule):
        rule = (SOFTLY if sets else "optimal") if of_their_own else "pa1"
    scaling = who.scaling
    if is_auto(scaling):
        scaling = _scaling(who, row) if linear else _scaling_of_kernel(who, row)
    bias = 0.0 if remembers_rows(who.kernel) else _bias(scaling, row, BIAS_OF_SETS if sets else 0.0)
    choices = _choices(rule, scaling, bias, of_their_own)
    if is_auto(who.features):
        choices["features"] = chosen_features(who.sharing, who.features, who.kernel)
    return choices


def choices_before(who: object) -> dict[str, object]:
    """Return what settings that are "auto" stood for when files did not yet say it.

    Examples
    --------
    >>> import hinged
    >>> choices_before(hinged.TextClassifier())["features"].high, choices_before(hinged.Classifier())
    (0.4, {})
    """
    features, sharing, kernel = (getattr(who, name, None) for name in ("features", "sharing", "kernel"))
    return {"features": chosen_features(sharing, features, kernel, BEFORE_EVIDENCE)} if is_auto(features) else {}


class VectorChoices(Protocol):
    """Settings of learners of one vector that the choices depend on."""

    @property
    def rule(self) -> object: ...

    @property
    def scaling(self) -> object: ...

    @property
    def normalize(self) -> object: ...

    @property
    def kernel(self) -> object: ...


def choices_of_vector(who: VectorChoices, row: FirstRow | None) -> dict[str, object]:
    """The same for a learner with one weight vector, of two labels or of numbers.

    Examples
    --------
    >>> import hinged
    >>> choices_of_vector(hinged.Regressor(scaling=None), FirstRow(4, dense=True))["bias"]
    0.0
    """
    row = row or NO_ROW
    linear = not remembers_rows(who.kernel)
    rule = "pa1" if is_auto(who.rule) else who.rule
    scaling = who.scaling
    if is_auto(scaling):
        scaling = _scaling_of_rows(row) if linear else _scaling_of_kernel(who, row)
    return _choices(rule, scaling, _bias(scaling, row) if linear else 0.0, linear)


def choices_of_ranks(who: VectorChoices, row: FirstRow | None) -> dict[str, object]:
    """The same for a learner of ranks, whose thresholds are constant features of their own."""
    row = row or NO_ROW
    scaling = _scaling_of_rows(row) if is_auto(who.scaling) else who.scaling
    return {
        "rule": SOFTLY if is_auto(who.rule) else who.rule,
        "C": max(SOFT) if is_auto(who.rule) else 1.0,
        "scaling": scaling,
        "normalize": scaling == "idf",
        "average": scaling in MOMENTS and not weights_fade(who),
        "bias": 0.0,
    }


def _choices(rule: object, scaling: object, bias: float, several: bool) -> dict[str, object]:
    """Put the choices together; `settings.side_by_side` says which C there are where there may be several."""
    several = several and _reads_cap(rule)
    return {
        "rule": rule,
        "C": "auto" if several else 1.0,
        "scaling": scaling,
        "normalize": scaling == "idf",
        "average": "auto" if several else False,
        "bias": bias,
    }


def _reads_cap(rule: object) -> bool:
    """Return True if C means something to a rule; a name that is no rule's is refused elsewhere."""
    return name_of(rule) in (*RULES, None) and reads_cap(rule)


def _scaling_of_rows(row: FirstRow) -> str:
    return "standard" if row.dense else "mixed"


def _scaling_of_kernel(who: LabelChoices | VectorChoices, row: FirstRow) -> str | None:
    """Return the scaling of rows that are kept: none, but for a kernel that goes by it."""
    return _scaling_of_rows(row) if reads_scaled(who.kernel) and who.normalize is not True else None


def _bias(scaling: object, row: FirstRow, least: float = 0.0) -> float:
    """Return the constant feature that suits scaled rows: as large as one more column, none for words."""
    if scaling not in MOMENTS:
        return 0.0
    return least if row.words and scaling == "mixed" else max(least, 1.0 / math.sqrt(max(1, row.n_values)))


def _scaling(who: LabelChoices, row: FirstRow) -> str | None:
    """Return the scaling of rows for linear weights: label features are defined for words, or by the user."""
    plan = resolve_sharing(who.sharing, who.features)
    if not plan.parts:
        return _scaling_of_rows(row)
    return None if row.dense or plan.functions else "idf"
