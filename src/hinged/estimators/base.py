"""What `Classifier` and `Ranker` share: settings, learning, scores, reasons, and edits of the label set."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array, check_random_state, validate_data

from hinged.estimators.calibration import confidence_by_bin
from hinged.estimators.inputs import FeatureSpace, check_weights, dtype_of, from_matrix, is_dicts
from hinged.estimators.labels import LabelIndex, in_order
from hinged.loops.explain import row_contributions, shared_contributions
from hinged.loops.labels import VECTORS, WEIGHTS, Setting, Targets
from hinged.loops.ledger import BINS, LABELS, MISTAKES, NOVEL, ROUNDS, UPDATES, lead_bin
from hinged.loops.model import LabelModel
from hinged.loops.rows import Rows
from hinged.rules.codes import MIRA, OPTIMAL
from hinged.rules.table import resolve as resolve_rule
from hinged.sharing.features import EXPLICIT
from hinged.sharing.plan import resolve as resolve_sharing

__all__ = ["LabelEstimator"]

LARGEST_JOINT = 2000
DENSE_COEF = 20_000_000


class LabelEstimator(BaseEstimator):
    """Online learner on labels; see `Classifier` and `Ranker` for the parameters."""

    def __init__(
        self,
        rule: Any = "pa1",
        C: float = 1.0,
        *,
        sharing: Any = "multi",
        features: Any = None,
        margin: float = 1.0,
        scaling: str | None = None,
        normalize: bool = False,
        average: bool = False,
        bias: float = 0.0,
        class_weight: Any = None,
        n_features: int | None = None,
        epochs: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        dtype: Any = None,
    ) -> None:
        self.rule = rule
        self.C = C
        self.sharing = sharing
        self.features = features
        self.margin = margin
        self.scaling = scaling
        self.normalize = normalize
        self.average = average
        self.bias = bias
        self.class_weight = class_weight
        self.n_features = n_features
        self.epochs = epochs
        self.shuffle = shuffle
        self.random_state = random_state
        self.dtype = dtype

    # ------------------------------------------------------------------ learning
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, make the labels of `y` known, and learn the rows `epochs` times.

        Parameters
        ----------
        X : matrix, data frame or list of dicts
        y : the right answer of each row
        sample_weight : array of shape (rows,), optional
            Replaces C by weight · C in each round; 0 leaves the model as it is.
        """
        fresh = self._blank()
        epochs = fresh._whole("epochs", self.epochs, 1)
        X, rows = fresh._rows(X, grow=True, reset=True)
        n = len(rows.indptr) - 1
        answers = fresh._answers(y, n)
        labels = fresh._declared_by(answers)
        weights = fresh._weights(sample_weight, answers, n, fitting=True)
        fresh.declare(labels)
        rng = check_random_state(self.random_state)
        order = np.arange(n)
        for epoch in range(epochs):
            if self.shuffle:
                order = rng.permutation(n)
            if self.shuffle or epoch == 0:
                some = _taken(rows, order) if self.shuffle else rows
                theirs = [answers[i] for i in order] if self.shuffle else answers
            fresh._learn(some, theirs, weights[order] if len(weights) else weights)
        vars(self).update({name: value for name, value in vars(fresh).items() if name not in self.get_params(deep=False)})
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn rows in order, keeping what was learnt; new labels and wider rows are welcome.

        Parameters
        ----------
        X : matrix, data frame or list of dicts
        y : the right answer of each row
        classes : labels to make known first, optional
        sample_weight : array of shape (rows,), optional
        """
        self._learn_batch(X, y, classes, sample_weight)
        return self

    def learn_one(self, x: Any, y: Any, sample_weight: float | None = None) -> None:
        """Learn one row: a dict of feature → value, a 1-D array, or a sparse row."""
        rows, new = self._row(x, grow=True)
        answers = self._answers([y], 1)
        weights = self._weights(None if sample_weight is None else [sample_weight], answers, 1)
        self._ready(rows.data.dtype)
        if new:
            self._space.admit(new)
        self._widen(rows)
        self._learn(rows, answers, weights)

    def declare(self, labels: Iterable[Hashable]) -> Self:
        """Make labels known before any of their rows came; sorted where they can be compared.

        Examples
        --------
        >>> import hinged
        >>> hinged.Classifier().declare(["spam", "ham"]).classes_.tolist()
        ['ham', 'spam']
        """
        self._start()
        wanted = self._as_declared(labels)
        new = [label for label in in_order(wanted) if label not in self._labels.position]
        self._check_count(len(self._labels) + len(new))
        self._labels.extend(new)
        if self._model is not None:
            self._model.declare(len(self._labels))
        return self

    def _learn_batch(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        delay: int = 0,
        advance: Callable[[int], None] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """`partial_fit`, with each round's flag and rank."""
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all labels at once and works with fit only; "
                "give a dict of label → weight to learn from a stream."
            )
        known = len(self._labels) if hasattr(self, "_labels") else 0
        X, rows = self._rows(X, grow=True, reset=not hasattr(self, "n_features_in_"))
        n = len(rows.indptr) - 1
        answers = self._answers(y, n)
        weights = self._weights(sample_weight, answers, n)
        if classes is None and not known:
            classes = self._columns_as_labels()
        if classes is not None:
            self.declare(classes)
        return self._learn(rows, answers, weights, delay, advance)

    def _learn(
        self,
        rows: Rows,
        answers: list,
        weights: np.ndarray,
        delay: int = 0,
        advance: Callable[[int], None] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        model = self._model
        assert model is not None
        indptr, flat = self._flat(answers)
        each = np.repeat(weights, np.diff(indptr)) if len(weights) else None
        ids, new = self._labels.encode(flat, each)
        self._check_count(len(self._labels) + len(new))
        result = model.learn(
            rows, Targets(indptr, ids, weights), [*self._labels.labels, *new], delay, self._describe, advance
        )
        self._labels.extend(new)
        return result

    # ------------------------------------------------------------------ answers
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of every known label, (rows, labels) in the order of `classes_`."""
        rows = self._read(X)
        k = int(self._fitted().ledger.counts[LABELS])
        return self._fitted().score(rows, self._labels.labels[:k], self._describe)

    def rank(self, X: Any, top: int | None = None) -> list[list[Hashable]]:
        """The labels of each row from best to worst (the best `top` of them); ties go to the earlier label."""
        return [[self._labels.labels[r] for r in order[:top]] for order in np.argsort(-self._scores(X), kind="stable")]

    def rank_one(self, x: Any, top: int | None = None) -> list[Hashable]:
        """The labels from best to worst for one row; empty before any is known."""
        if self._model is None if hasattr(self, "_labels") else True:
            return []
        return self.rank(_one(x), top)[0]

    def score_gap(self, X: Any) -> np.ndarray:
        """Lead of each row's best label over the runner-up; 0 where there is no runner-up."""
        scores = self._scores(X)
        if scores.shape[1] < 2:
            return np.zeros(len(scores))
        best = np.partition(scores, scores.shape[1] - 2, axis=1)
        return best[:, -1] - best[:, -2]

    def confidence(self, X: Any) -> np.ndarray:
        """Chance in [0, 1] that each row's best label is right, learnt online from earlier leads and hits."""
        by_bin = confidence_by_bin(*self._fitted().ledger.leads)
        assert len(by_bin) == BINS
        return by_bin[[lead_bin(gap) for gap in self.score_gap(X)]]

    def explain(self, x: Any, label: Hashable, top: int | None = 10) -> list[tuple[Hashable, float]]:
        """The features of a row that carry a label's score, signed, largest first; all of them sum to the score.

        Parameters
        ----------
        x : dict, 1-D array or sparse row
        label : a known label
        top : how many, None for all
        """
        model = self._fitted()
        if label not in self._labels.position:
            raise ValueError(f"label {label!r} is not known; known are {self._labels.labels[:10]!r}.")
        at, labels = self._labels.position[label], self._labels.labels
        rows = self._read(_one(x))
        columns, scaling, counts = model._columns_of(labels), model._scaling(), model.ledger.counts
        held = [paged.view for paged in model.stores]
        ids, values = row_contributions(
            rows, columns, scaling, held[WEIGHTS][0], counts, model.mean_over, len(labels), at
        )
        total: dict[Hashable, float] = {}
        for f, value in zip(ids.tolist(), values.tolist(), strict=True):
            total[self._feature_name(f)] = value
        if model.plan.parts:
            explicit = model._explicit(rows, labels, self._describe, False) if model.plan.functions else None
            parts = model._parts(labels, explicit, held)
            ids, values = shared_contributions(rows, scaling, parts, counts, model.mean_over, len(labels), at)
            own_names = list(model.names) if model.plan.functions else None
            for f, value in zip(ids.tolist(), values.tolist(), strict=True):
                name = own_names[f - 1] if own_names is not None else self._feature_name(f)
                total[name] = total.get(name, 0.0) + value
        carrying = [(name, value) for name, value in total.items() if value != 0.0]
        return sorted(carrying, key=lambda item: -abs(item[1]))[:top]

    # ------------------------------------------------------------------ edits of the label set
    def rename_label(self, old: Hashable, new: Hashable) -> Self:
        """Call a label by another name; what was learnt stays."""
        at = self._position(old)
        if new in self._labels.position and new != old:
            raise ValueError(f"label {new!r} exists already; use merge_labels({old!r}, {new!r}) to join the two.")
        labels = list(self._labels.labels)
        labels[at] = new
        self._labels = LabelIndex(labels)
        return self

    def merge_labels(self, source: Hashable, into: Hashable) -> Self:
        """Make one label of two: weights and statistics add up, as if every past round of `source` had said `into`.

        The certificate speaks of the problem with both labels, so `dual_` is None from here on.
        """
        a, b = self._position(source), self._position(into)
        if a == b:
            raise ValueError(f"merge_labels needs two labels; got {source!r} twice.")
        onto = np.arange(len(self._labels))
        onto[a] = b
        self._move(onto, a)
        return self

    def remove_label(self, label: Hashable) -> Self:
        """Forget a label and what was learnt for it alone; `dual_` is None from here on."""
        at = self._position(label)
        onto = np.arange(len(self._labels))
        onto[at] = -1
        self._move(onto, at)
        return self

    def _move(self, onto: np.ndarray, gone: int) -> None:
        onto = np.where(onto > gone, onto - 1, onto)
        labels = [label for i, label in enumerate(self._labels.labels) if i != gone]
        if self._model is not None:
            self._model.move_labels(onto, len(labels))
        self._labels = LabelIndex(labels)
        self._edited = True

    def _position(self, label: Hashable) -> int:
        if not hasattr(self, "_labels") or label not in self._labels.position:
            known = self._labels.labels[:10] if hasattr(self, "_labels") else []
            raise ValueError(f"label {label!r} is not known; known are {known!r}.")
        return self._labels.position[label]

    # ------------------------------------------------------------------ what was learnt
    @property
    def classes_(self) -> np.ndarray:
        """The known labels: sorted after `fit` or where declared, else in order of appearance."""
        if not hasattr(self, "_labels"):
            raise AttributeError("classes_ exists after the first label is known.")
        return self._labels.array()

    @property
    def coef_(self) -> Any:
        """Weights (labels, features) of the labels' own vectors (of the sets', for `Groups`); sparse when large."""
        model = self._learnt("coef_")
        n = model.plan.n_columns(len(self._labels))
        owners, values = model.stores[WEIGHTS].rows(n, model.mean_over)
        keep = owners > 0
        columns, values = owners[keep] - 1, values[keep]
        if n * model.n_features <= DENSE_COEF:
            coef = np.zeros((n, model.n_features), model.dtype)
            coef[:, columns] = values.T
            return coef
        return _sparse_coef(columns, values, model.n_features)

    @property
    def shared_coef_(self) -> np.ndarray:
        """The shared vector of "single" and "hybrid" (features,); (sets, features) where groups share several."""
        model = self._learnt("shared_coef_")
        n = len(model.plan.parts)
        if n == 0:
            raise AttributeError(f"sharing={self.sharing!r} has no shared vector; use 'single' or 'hybrid'.")
        owners, values = model.stores[VECTORS].rows(n, model.mean_over)
        width = len(model.names) if model.plan.functions else model.n_features
        out = np.zeros((n, width), model.dtype)
        keep = owners > 0
        out[:, owners[keep] - 1] = values[keep].T
        return out[0] if n == 1 else out

    @property
    def n_rounds_(self) -> int:
        """Rounds so far."""
        return int(self._learnt("n_rounds_").ledger.counts[ROUNDS])

    @property
    def n_mistakes_(self) -> int:
        """Rounds whose right labels did not all score above every other one; a tie is a mistake."""
        return int(self._learnt("n_mistakes_").ledger.counts[MISTAKES])

    @property
    def n_updates_(self) -> int:
        """Rounds that took a step."""
        return int(self._learnt("n_updates_").ledger.counts[UPDATES])

    @property
    def n_novel_(self) -> int:
        """Rounds with a label seen for the first time; they are not counted as mistakes."""
        return int(self._learnt("n_novel_").ledger.counts[NOVEL])

    @property
    def dual_(self) -> float | None:
        """The dual certificate: no fixed predictor has a smaller objective. None where the rule has none."""
        model = self._learnt("dual_")
        return model.dual if self._certified and not self._edited else None

    def save(self, path: Any) -> None:
        """Write the model to one file, atomically; `hinged.load` reads it."""
        from hinged.io.model_file import save

        self._learnt("save")
        save(self, path)

    # ------------------------------------------------------------------ settings
    def _blank(self) -> Self:
        """A copy with the same settings and nothing learnt."""
        fresh = type(self)(**self.get_params(deep=False))
        fresh._start()
        return fresh

    def _start(self) -> None:
        """Check the settings and make ready to know labels and features."""
        if hasattr(self, "_labels"):
            return
        self._settled()
        self._labels, self._space = LabelIndex(), FeatureSpace()
        self._model: LabelModel | None = None
        self._edited = False

    def _settled(self) -> tuple[Any, Any, Any]:
        """The rule, a user's own function if one, and the sharing plan; every setting is checked here."""
        step, own = resolve_rule(self.rule, self.C, self.margin)
        if own is not None and not hasattr(own, "py_func"):
            raise TypeError(
                f"a rule of your own must be compiled: decorate it with numba.njit; got {own!r}. "
                "docs/adding_a_rule.md shows one."
            )
        plan = resolve_sharing(self.sharing, self.features)
        codes = {part.code for part in plan.parts}
        if EXPLICIT in codes and len(codes) > 1:
            raise ValueError("label features of your own cannot be mixed with built-in ones in one model.")
        if self.scaling not in (None, "idf"):
            raise ValueError(f"scaling must be None or 'idf'; got scaling={self.scaling!r}.")
        if isinstance(self.bias, bool) or not isinstance(self.bias, Real) or not math.isfinite(self.bias):
            raise ValueError(f"bias must be a finite number; got bias={self.bias!r}. Try 0.1, or 0 for none.")
        if self.n_features is not None:
            self._whole("n_features", self.n_features, 1)
        if self.dtype is not None and np.dtype(self.dtype) not in (np.float32, np.float64):
            raise ValueError(f"dtype must be float32 or float64; got dtype={self.dtype!r}.")
        return step, own, plan

    def _ready(self, dtype: Any) -> None:
        """Make the memory, now that the input's type is known."""
        if self._model is None:
            step, own, plan = self._settled()
            self._certified = step.certified
            self._model = LabelModel(
                self.dtype or dtype,
                plan,
                Setting(step.code, step.C, step.margin, step.uses_weight),
                own,
                idf=self.scaling == "idf",
                unit=bool(self.normalize),
                bias=float(self.bias),
                average=bool(self.average),
            )
            self._model.widen(self.n_features or 0)
            self._model.declare(len(self._labels))

    def _check_count(self, n_labels: int) -> None:
        step, _own, plan = self._settled()
        if step.code in (OPTIMAL, MIRA) and (plan.parts or not plan.per_label) and n_labels > LARGEST_JOINT:
            raise ValueError(
                f"rule={self.rule!r} with sharing={self.sharing!r} solves a problem over all pairs of labels and takes "
                f"at most {LARGEST_JOINT} of them; got {n_labels}. Use sharing='multi', or rule='simproj'."
            )

    @staticmethod
    def _whole(name: str, value: Any, least: int) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be a whole number of at least {least}; got {name}={value!r}.")
        return int(value)

    def _weights(self, sample_weight: Any, answers: list, n: int, fitting: bool = False) -> np.ndarray:
        """Weights of the rows: the user's, times those of their labels."""
        weights = check_weights(sample_weight, n)
        if self.class_weight is None:
            return weights
        by_label = self._label_weights(answers) if fitting and self.class_weight == "balanced" else self.class_weight
        if not isinstance(by_label, dict):
            raise ValueError(
                f"class_weight must be None, 'balanced' (fit only) or a dict of label → weight; got {by_label!r}."
            )
        factors = np.array([self._factor(answer, by_label) for answer in answers], np.float64).reshape(n)
        if not (np.isfinite(factors).all() and (factors >= 0).all()):
            raise ValueError(f"class_weight must hold finite numbers that are not negative; got {self.class_weight!r}.")
        return weights * factors if len(weights) else factors

    # ------------------------------------------------------------------ rows
    def _rows(self, X: Any, grow: bool, reset: bool = False) -> tuple[Any, Rows]:
        """Rows of any input; with `grow`, new columns and names are admitted."""
        if is_dicts(X):
            self._start()
            dtype = self._model.dtype if self._model is not None else np.dtype(self.dtype or np.float64)
            width = self._model.n_features if self._model is not None and self._space.names is None else 0
            rows, new = self._space.from_dicts(X, dtype, width, grow, getattr(self, "feature_names_in_", None))
            if grow:
                self._ready(dtype)
                if new or width == 0:
                    self._space.admit(new)
                self._widen(rows)
            return X, rows
        X = self._matrix(X, reset)
        if hasattr(self, "_space") and self._space.names is not None:
            raise ValueError(
                "this model was taught with dicts, and a matrix has no feature names; got a matrix. "
                "Give dicts of feature → value."
            )
        known = getattr(self, "n_features_in_", X.shape[1])
        if X.shape[1] < known or (X.shape[1] != known and not grow):
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {known} features as input."
            )
        dtype = np.dtype(self.dtype or dtype_of(X))
        if getattr(self, "_model", None) is not None:
            dtype = self._model.dtype
        rows = from_matrix(X, dtype)
        if grow:
            self._start()
            self._ready(dtype)
            assert self._model is not None
            self._model.widen(X.shape[1])
            self.n_features_in_ = max(known, X.shape[1], self.n_features or 0)
        return X, rows

    def _matrix(self, X: Any, reset: bool) -> Any:
        """A 2-D matrix of numbers, by scikit-learn's rules; values are checked later, in one compiled pass."""
        names_known = hasattr(self, "feature_names_in_")
        if sparse.issparse(X):
            if X.ndim != 2:
                raise ValueError(f"Expected 2D input; got {X.ndim}D. Reshape your data to one row: X.reshape(1, -1).")
            out = X
            if X.dtype == object or X.dtype.kind in "USV":
                raise TypeError(f"values of X must be numbers; got dtype {X.dtype}.")
        else:
            kinds = [np.float64, np.float32]
            out = check_array(X, dtype=kinds, ensure_all_finite=False, ensure_min_samples=0, estimator=self)
        if out.shape[0] == 0:
            raise ValueError(
                f"Found array with 0 sample(s) (shape={tuple(out.shape)}) while a minimum of 1 is required by "
                f"{type(self).__name__}."
            )
        if reset or names_known or hasattr(X, "columns"):
            wider = not reset and out.shape[1] > getattr(self, "n_features_in_", out.shape[1])
            if not wider:
                validate_data(self, X if hasattr(X, "columns") else out, reset=reset, skip_check_array=True)
        return out

    def _row(self, x: Any, grow: bool) -> tuple[Rows, list]:
        """One row, and names not met before."""
        if isinstance(x, dict):
            self._start()
            dtype = self._model.dtype if self._model is not None else np.dtype(self.dtype or np.float64)
            width = self._model.n_features if self._model is not None and self._space.names is None else 0
            columns = getattr(self, "feature_names_in_", None)
            rows, new = self._space.from_dicts((x,), dtype, width, grow, columns)
            if grow and width == 0 and self._space.names is None:
                self._space.admit([])
            return rows, new
        rows = self._rows(_one(x), grow, reset=grow and not hasattr(self, "n_features_in_"))[1]
        return rows, []

    def _widen(self, rows: Rows) -> None:
        assert self._model is not None
        if self._space.names is not None:
            self._model.widen(len(self._space.listed))
        elif len(rows.indices):
            self._model.widen(int(rows.indices.max()) + 1)
            self.n_features_in_ = max(getattr(self, "n_features_in_", 0), self._model.n_features)

    def _read(self, X: Any) -> Rows:
        """Rows to be answered, not learnt."""
        self._fitted()
        if is_dicts(X) and len(X) == 1:
            return self._row(X[0], grow=False)[0]
        return self._rows(X, grow=False)[1]

    def _scores(self, X: Any) -> np.ndarray:
        rows = self._read(X)
        return self._fitted().score(rows, self._labels.labels, self._describe)

    def _describe(self, f: np.ndarray, v: np.ndarray) -> dict[Hashable, float]:
        """A scaled row as a dict, for label features of the user's own."""
        return {self._feature_name(i): value for i, value in zip(f.tolist(), v.tolist(), strict=True)}

    def _feature_name(self, feature: int) -> Hashable:
        if feature == 0:
            return "bias"
        return self._space.name(feature - 1, getattr(self, "feature_names_in_", None))

    def _fitted(self) -> LabelModel:
        if getattr(self, "_model", None) is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: it has learnt nothing. "
                "Call fit, partial_fit or learn_one first."
            )
        assert self._model is not None
        return self._model

    def _learnt(self, name: str) -> LabelModel:
        if getattr(self, "_model", None) is None:
            raise AttributeError(f"{name} exists after learning: call fit, partial_fit or learn_one first.")
        assert self._model is not None
        return self._model

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_model", None) is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _one(x: Any) -> Any:
    """One row as a batch of one."""
    if isinstance(x, dict):
        return [x]
    if sparse.issparse(x):
        return x.reshape(1, -1) if x.ndim == 1 else x
    x = np.asarray(x)
    if x.ndim == 2 and x.shape[0] == 1:
        return x
    if x.ndim != 1:
        raise ValueError(f"one row is a dict, a 1-D array or a sparse row; got an array of shape {x.shape}.")
    return x.reshape(1, -1)


def _taken(rows: Rows, order: np.ndarray) -> Rows:
    """Rows in another order."""
    X = sparse.csr_array((rows.data, rows.indices, rows.indptr))[order]
    return Rows(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data)


def _sparse_coef(columns: np.ndarray, values: np.ndarray, width: int) -> sparse.csr_array:
    coef = sparse.coo_array(values)
    return sparse.csr_array((coef.data, (coef.col, columns[coef.row])), shape=(values.shape[1], width))
