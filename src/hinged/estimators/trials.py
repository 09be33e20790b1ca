"""Raw trials: the setting of simultaneous projections itself."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from hinged.estimators.geometry_settings import check_entropic_rule
from hinged.estimators.inputs import LARGEST, LEAST, as_matrix, check_finite, from_matrix
from hinged.estimators.learner import Learner, State
from hinged.estimators.options import Geometry, Rule
from hinged.estimators.parts import Parts, at_one_moment
from hinged.estimators.reader import RowReader
from hinged.estimators.settings import check_sizes
from hinged.geometry.adaptive import Adaptive
from hinged.geometry.choice import resolve as resolve_geometry
from hinged.loops.entropic import beyond
from hinged.loops.trials import TrialModel
from hinged.rules.table import check_runs
from hinged.rules.table import resolve as resolve_rule
from hinged.rules.words import is_constant, is_joint, is_own, is_softened
from hinged.tasks.trials import directions, signs

__all__ = ["Trials"]


class Trials(Learner[TrialModel, RowReader]):
    """Online learner on raw trials: instances with labels ±1, all to be met at once by one weight vector.

    A trial brings a matrix of instances; each asks for y_j ⟨ω, x_j⟩ >= margin, and one instance on the wrong side makes
    the trial a mistake. Multiclass, multilabel and ordinal problems are special cases of it, so this is what the other
    learners can be checked against; it is written to be read, not to be fast.

    Parameters
    ----------
    rule : str, hinged.rules.Mira or hinged.rules.Optimal, default "simproj"
        How far to move along which constraints; under "entropy" one of "perceptron", "pa1", "simperc", "simproj",
        "conproj", "optimal", "uniform".
    C : float, default 1.0
        Bound on the sum of a trial's dual variables, positive.
    geometry : "euclidean", "entropy" or hinged.geometry.Entropy, default "euclidean"
    margin : float, default 1.0
        What each instance asks for.

    Attributes
    ----------
    coef_ : array (features,)
    n_rounds_, n_mistakes_, n_updates_ : int
        Trials, imperfect trials, trials with a step.
    dual_ : float or None
        The dual certificate.

    References
    ----------
    Amit, Shalev-Shwartz and Singer (2006), sections 2, 4 and 7.

    Examples
    --------
    >>> import hinged
    >>> model = hinged.Trials("simproj")
    >>> model.learn_one([[1.0, 0.0], [0.0, 2.0]], [1, -1])
    >>> model.coef_.tolist(), model.predict_one([[1.0, 0.0], [0.0, 1.0]]).tolist()
    ([0.5, -0.25], [1, -1])
    """

    task = "trials"

    _forgotten = (*Learner._forgotten, "_warned")
    _warned = False
    _parts: Parts[TrialModel, RowReader] = Parts(None, None, RowReader())
    rule: Rule
    C: float
    geometry: Geometry
    margin: float

    def __init__(
        self, rule: Rule = "simproj", C: float = 1.0, geometry: Geometry = "euclidean", margin: float = 1.0
    ) -> None:
        self._store(locals())

    # ------------------------------------------------------------------ learning
    def learn_one(self, X_t: object, y_t: ArrayLike, nu: ArrayLike | None = None) -> None:
        """Learn one trial.

        Parameters
        ----------
        X_t : dense or sparse matrix (instances, features)
        y_t : array of ±1 (instances,)
        nu : array (instances,), optional
            Weights of the dual variables, not negative: Σ ν_j λ_j <= C, and instance j counts as its loss over ν_j. All
            1 by default; 0 takes the cap off one instance.
        """
        self._learn([X_t], [y_t], [nu])

    def partial_fit(
        self, X: Sequence[object], y: Sequence[ArrayLike], nu: Iterable[ArrayLike | None] | None = None
    ) -> Self:
        """Learn trials in order: a matrix and labels for each, and weights where given."""
        self._learn(X, y, nu)
        return self

    def fit(self, X: Sequence[object], y: Sequence[ArrayLike], nu: Iterable[ArrayLike | None] | None = None) -> Self:
        """Forget everything, then learn trials in order."""
        fresh = type(self)(**self.get_params(deep=False))
        fresh._learn(X, y, nu)
        self._become(fresh)
        return self

    def _learn(self, X: Sequence[object], y: Sequence[ArrayLike], nu: Iterable[ArrayLike | None] | None) -> None:
        """Learn trials in order; where one of them is refused, nothing has changed."""
        with self._or_undone(several=True):
            model = self._keep_up()
            for Z, weights in self._check(X, y, nu, model):
                model.widen(Z.shape[1])
                self._parts = Parts(None, model, RowReader(width=Z.shape[1]))
                model.learn(Z, weights)
            warn = model.unreached > 0 and not self._warned
            self._warned = self._warned or warn
        if warn:
            assert model.geometry is not None
            warnings.warn(
                f"margin={self.margin!r} is out of reach of some instances: with geometry='entropy' none scores above "
                f"the radius ({model.geometry.radius:g}) times its largest value. The steps there are C. Use a smaller "
                "margin, or hinged.geometry.Entropy(radius=...) larger than the margin.",
                stacklevel=3,
            )

    def _check(
        self, X: Sequence[object], y: Sequence[ArrayLike], nu: Iterable[ArrayLike | None] | None, model: TrialModel
    ) -> list[tuple[sparse.csr_array, np.ndarray]]:
        """The constraints of each trial and the weights of their dual variables, if all of them are sound."""
        nus = [None] * len(X) if nu is None else list(nu)
        if len(X) != len(y):
            raise ValueError(f"X and y must have as many trials; got {len(X)} matrices and {len(y)} label vectors.")
        if len(X) != len(nus):
            raise ValueError(f"X and nu must have as many trials; got {len(X)} matrices and {len(nus)} weight vectors.")
        known, checked = self._parts.reader.width, []
        for X_t, y_t, nu_t in zip(X, y, nus, strict=True):
            rows = self._rows(X_t, known, model.geometry is not None, grow=True)
            n, known = rows.shape
            checked.append((directions(rows, _labels(y_t, n)), self._nu(nu_t, n, model)))
        return checked

    def constraints(self, X_t: object, y_t: ArrayLike) -> sparse.csr_array:
        """The vectors y_j x_j of a trial, a row each: what ⟨ω, ·⟩ >= margin is asked of."""
        rows = self._rows(X_t, None, fixed=False, grow=True)
        return directions(rows, _labels(y_t, rows.shape[0]))

    # ------------------------------------------------------------------ answers
    @at_one_moment
    def decision_function(self, X: object) -> np.ndarray:
        """⟨ω, x⟩ of each instance, (instances,)."""
        model = self._fitted()
        rows = self._rows(X, self.n_features_in_, model.geometry is not None, grow=False)
        return rows @ model.coef[: rows.shape[1]]

    def predict_one(self, X_t: object) -> np.ndarray:
        """The sign of each instance of a trial, ±1; a score of 0 is -1."""
        return signs(self.decision_function(X_t))

    def predict(self, X: Sequence[object]) -> list[np.ndarray]:
        """The signs of several trials."""
        return [self.predict_one(X_t) for X_t in X]

    @property
    def coef_(self) -> np.ndarray:
        """The weights ω; with signed entropy the difference of each feature's two."""
        return self._learnt("coef_").coef.copy()

    @property
    def dual_(self) -> float | None:
        """The dual certificate: no fixed ω has a smaller objective. None where the rule has none."""
        model = self._learnt("dual_")
        return model.dual if model.step.certified and not model.edited else None

    # ------------------------------------------------------------------ keeping
    def _state(self) -> State:
        model = self._learnt("state")
        about = {"columns": self.n_features_in_, "edited": model.edited, "notes": self._notes}
        return about, model.arrays(), {}

    def _restore(self, about: dict[str, Any], arrays: dict[str, np.ndarray], names: dict[str, list[Hashable]]) -> None:
        """Become the model of that state."""
        model = self.check_settings()
        width = about["columns"]
        model.widen(width)
        model.restore(arrays, (), 0)
        model.edited = bool(about["edited"])
        self._notes = about.get("notes")
        self._parts, self._warned = Parts(None, model, RowReader(width=width)), model.unreached > 0

    # ------------------------------------------------------------------ checks
    def check_settings(self) -> TrialModel:
        """Check every setting, by name; return an empty model for them. A ValueError says what was wrong."""
        step, _own = resolve_rule(self.rule, self.C, self.margin)
        geometry = resolve_geometry(self.geometry)
        if is_own(step.words):
            raise ValueError("a rule of your own reads scores of labels, which raw trials have not; use one by name.")
        check_runs("in Trials", self.rule, step.words)
        if isinstance(geometry, Adaptive):
            raise ValueError(
                f"Trials have no metric that learns; got geometry={self.geometry!r}. Use 'euclidean' or 'entropy', "
                "or a Classifier."
            )
        if geometry is not None:
            check_entropic_rule(self.rule, step)
        if geometry is not None and is_joint(step.words) and math.inf == step.C:
            raise ValueError("C must be finite for rule='optimal' with geometry='entropy'; got C=inf. Try 1.0.")
        check_sizes({"C": step.C, "margin": step.margin}, "float64")
        check_sizes({} if geometry is None else {"radius": geometry.radius}, "float64")
        return TrialModel(step, geometry)

    def _keep_up(self) -> TrialModel:
        """The model, with any change of `rule`, `C` or `margin` since its last trial; a new one before the first."""
        fresh, model = self.check_settings(), self._model
        if model is None:
            return fresh
        if model.geometry != fresh.geometry:
            raise ValueError(
                f"geometry cannot change once something is learnt; it was {model.geometry!r}, now {fresh.geometry!r}. "
                "Set it back, or call fit to start anew."
            )
        if model.step != fresh.step:
            model.step, model.edited = fresh.step, True  # the certificate spoke of the rule it began with
        return model

    def _rows(self, X_t: object, known: int | None, fixed: bool, grow: bool) -> sparse.csr_array:
        """The instances of a trial, as wide as the `known` ones at least; wider ones are refused unless they `grow`."""
        matrix = as_matrix(X_t, self)
        rows = from_matrix(matrix, np.dtype(np.float64))
        check_finite(rows.data, np.dtype(np.float64))
        width = matrix.shape[1]
        if known is not None and width > known:
            if fixed:
                raise ValueError(beyond(known, width))
            if not grow:
                raise ValueError(f"X has {width} features, but Trials is expecting {known} features as input.")
        return sparse.csr_array(
            (rows.data, rows.indices, rows.indptr), shape=(len(rows.indptr) - 1, max(width, known or 0))
        )

    @staticmethod
    def _nu(nu: ArrayLike | None, n: int, model: TrialModel) -> np.ndarray:
        """Weights of the dual variables, one per instance."""
        if nu is None:
            return np.ones(n)
        weights = np.asarray(nu, np.float64)
        if weights.shape != (n,):
            raise ValueError(f"nu must hold one number per instance; got shape {weights.shape} for {n} instances.")
        if not np.isfinite(weights).all() or (weights < 0.0).any():
            raise ValueError("nu must hold finite numbers that are not negative; got others.")
        lowest = LEAST if math.inf == model.step.C else max(LEAST, model.step.C / LARGEST["float64"])
        if ((weights > 0.0) & (weights < lowest)).any() or (weights > LARGEST["float64"]).any():
            raise ValueError(
                f"nu must be 0, or between {lowest:g} and {LARGEST['float64']:g} for C={model.step.C:g}; got "
                f"{weights[weights > 0.0].min():g} to {weights.max():g}. Scale nu, or C."
            )
        if is_softened(model.step.words):
            raise ValueError("rule='pa2' has no cap that nu could weigh; leave nu out, or use rule='pa1'.")
        if is_constant(model.step.words) and (weights == 0.0).any():
            raise ValueError(
                "a nu of 0 takes the cap off an instance, and this rule's step is the cap; give positive ones."
            )
        return np.ones(n) if math.inf == model.step.C else weights


def _labels(y_t: ArrayLike, n: int) -> np.ndarray:
    """The instances' labels, ±1."""
    y = np.asarray(y_t)
    if y.shape != (n,):
        raise ValueError(f"y_t must hold one label per instance; got shape {y.shape} for {n} instances.")
    if y.dtype.kind not in "iuf" or not np.isin(y, (-1, 1)).all():
        raise ValueError(f"labels of a trial must be -1 or +1; got {y[:10].tolist()}.")
    return y.astype(np.float64)
