"""The bound that is proven of a learner's rule, and how it, the certificate and the mistakes grow as a stream runs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hinged.bounds import formulas
from hinged.bounds.comparators import Sums, entropy_of, sums_of, total
from hinged.bounds.formulas import Bound, gain_per_mistake, last
from hinged.bounds.proven import Case, case_of
from hinged.bounds.solver import Hindsight, hindsight
from hinged.bounds.streams import Stream, Truth, Watchable, as_stream
from hinged.bounds.theorems import AGAINST_IT, condition
from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.trials import Trials
from hinged.loops.ledger import GAIN, SQ_NORM

__all__ = ["Trace", "mistake_bound", "trace"]

SHORTEST_HEAD = 32
WORK = 1e8  # values of the stream times labels that all beginnings together may hold
EPOCHS = 30
Moments = list[tuple[float | None, ...]]  # rounds done, the dual (None without one), Σλm and ‖ω‖², at some moments


class Best(NamedTuple):
    """The least of all bounds after each round, and the one that is least at the end."""

    mistakes: np.ndarray
    final: Bound | None
    complexity: float
    objective: float | None
    why: str


@dataclass(frozen=True)
class Trace:
    """Mistakes, certificate and bound at some two hundred moments of a stream.

    Attributes
    ----------
    rounds : int array
        Rounds done at each moment.
    mistakes : int array
        Mistakes so far.
    certificate : float array
        The learner's `dual_`; NaN where its rule has none.
    certified : float array
        The most mistakes that the certificate allows, D over what each adds to D at least; NaN where that is nothing.
        What a Perceptron predicts does not depend on C: there D is that of the C which suits the bound.
    bound : float array
        The most mistakes that the theorem allows; infinite where it does not apply (yet, or any more).
    final : Bound or None
        The bound at the end, with its parts; None where no theorem applies, and `note` says why.
    objective : float or None
        The objective of the comparator of `final`.
    note : str
    rule : str
    flags : int8 array
        Of each round, as in `Progress`.
    condition : str
        Where the theorem is LR eq. 2 and the stream breaks its condition on the Hessian: a sentence on what stands in
        its place.
    """

    rounds: np.ndarray
    mistakes: np.ndarray
    certificate: np.ndarray
    certified: np.ndarray
    bound: np.ndarray
    final: Bound | None
    objective: float | None
    note: str
    rule: str
    flags: np.ndarray
    condition: str = ""

    def summary(self) -> dict[str, Any]:
        """The end of it as plain numbers: mistakes, bound, theorem, its parts, certificate, objective, and notes."""
        certificate = float(self.certificate[-1])
        return {
            "mistakes": int(self.mistakes[-1]),
            "bound": getattr(self.final, "mistakes", None),
            **{name: getattr(self.final, name, None) for name in ("theorem", "complexity", "loss")},
            "certificate": None if math.isnan(certificate) else certificate,
            "objective": self.objective,
            "note": self.note,
            "condition": self.condition,
        }

    def __repr__(self) -> str:
        limit = f"no bound: {self.note}"
        if self.final is not None:
            limit = f"at most {self.final.mistakes:.6g} by {self.final.theorem}"
        return f"Trace({self.rule}: {int(self.mistakes[-1])} mistakes in {len(self.flags)} rounds, {limit})"


def mistake_bound(
    model: Watchable, X: Iterable, y: Truth = None, classes: object = None, *, u: object = None, h: float | None = 0.5
) -> Bound:
    """The least bound that is proven of a learner's rule on a stream.

    Parameters
    ----------
    model : Classifier, Ranker, TextClassifier, TextRanker or Trials
        Whose rule, C and way to read rows are meant; it learns nothing.
    X, y : rows and right answers, in order
        Raw trials as a list of pairs (X_t, y_t), with no y.
    classes : labels known from the start, optional
    u : comparator, optional
        Fixed weights to compare with; without them, several found in hindsight.
    h : float or None, default 0.5
        The condition of LR eq. 2, ⟨x, Hx⟩ ≤ h; None for no warning where it does not hold.

    Warns
    -----
    UserWarning
        Where the bound is LR eq. 2 and the stream violates its condition: the stream's own h then replaces it.

    Raises
    ------
    ValueError
        Where no theorem applies, with the reason.

    Examples
    --------
    >>> import hinged, numpy as np
    >>> mistake_bound(hinged.Classifier("pa1", 1.0, scaling=None), np.eye(2)[[0, 1] * 8], [0, 1] * 8, classes=[0, 1])
    Bound(mistakes ≤ 2 by PA theorem 4: 2 for complexity, 0 for loss)
    """
    case = case_of(model)
    stream = as_stream(X, y, classes, like=model)
    best = _best(stream, case, _comparators(stream, case) if u is None else [u])
    if best.final is None:
        raise ValueError(best.why)
    _tell(_broken(stream, case, best, h))
    return best.final


def trace(
    model: Watchable, X: Iterable, y: Truth = None, classes: object = None, *, u: object = None, h: float | None = 0.5
) -> Trace:
    """Let a fresh learner run over a stream, and watch its mistakes, its certificate and its bound.

    Every comparator bounds every beginning of the stream, so those found on ever longer beginnings are tried, and the
    least bound of each moment is taken.

    Parameters
    ----------
    model : Classifier, Ranker, TextClassifier, TextRanker or Trials
        Fresh; ends as after `partial_fit`.
    X, y, classes, u, h
        As in `mistake_bound`, with the same warning.

    Examples
    --------
    >>> import hinged, numpy as np
    >>> trace(hinged.Classifier("simperc", 1.0, scaling=None), np.eye(2)[[0, 1] * 8], [0, 1] * 8, classes=[0, 1])
    Trace(simperc: 2 mistakes in 16 rounds, at most 2 by SP theorem 1 at the best C)
    """
    if getattr(model, "n_rounds_", 0) > 0:
        raise ValueError(
            "the bounds speak of a learner that starts from zero; got one that has learnt. Give a fresh one."
        )
    case = case_of(model, named=False)
    stream = as_stream(X, y, classes, like=model)
    if isinstance(model, Trials):
        flags, seen = _watch_trials(model, X, y, len(stream))
    else:
        flags, seen = _watch(model, X, y, classes, len(stream))
    moments, dual, gained, sq_norm = (np.array(column, np.float64) for column in zip(*seen, strict=True))
    at = moments.astype(np.int64) - 1
    if case.proven:
        best = _best(stream, case, _comparators(stream, case) if u is None else [u])
        certified = _certified(stream, case, best, at, (dual, gained, sq_norm))
    else:
        why = f"no theorem covers rule={model.rule!r}."
        best = Best(np.full(len(stream), math.inf), None, 0.0, None, why)
        certified = np.full(len(at), math.nan)
    mistakes, bound, broken = np.cumsum(flags == 1)[at], best.mistakes[at], _broken(stream, case, best, h)
    _tell(broken)
    return Trace(
        at + 1, mistakes, dual, certified, bound, best.final, best.objective, best.why, case.rule, flags, broken
    )


def _certified(
    stream: Stream, case: Case, best: Best, at: np.ndarray, seen: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> np.ndarray:
    """The most mistakes that the certificate allows at some moments; `seen` is the dual, Σλm and ‖ω‖² there."""
    certificate, gained, sq_norm = seen
    s = sums_of(stream, _nothing(stream, case), case.geometry)
    s = s._replace(curvature=s.curvature[at], n_pairs=s.n_pairs[at], sq_shortest=s.sq_shortest[at])
    with np.errstate(divide="ignore", invalid="ignore"):
        C = np.float64(case.C)
        if case.free_of_cap:
            C = np.sqrt(best.complexity / (s.curvature * best.mistakes[at]))
            scale = C / case.C
            certificate = scale * gained - 0.5 * scale * scale * sq_norm
        gain = gain_per_mistake(case.rule, s, C)
        return np.where(gain > 0, certificate / gain, math.nan)


def _watch(model: LabelLearner, X: object, y: object, classes: object, n: int) -> tuple[np.ndarray, Moments]:
    """Learn the stream; flags, and at some two hundred moments the rounds done, the dual and what it is made of."""
    seen: Moments = []
    done = 0

    def note(more: int) -> None:
        nonlocal done
        done += more
        if _is_moment(done, n):
            sums = model.model_.ledger.sums
            seen.append((done, model.dual_, sums[GAIN], sums[SQ_NORM]))

    return model.learn_rounds(X, y, classes, None, 0, note).flags, seen


def _watch_trials(model: Trials, X: Iterable[Any], y: Iterable[Any] | None, n: int) -> tuple[np.ndarray, Moments]:
    """The same of raw trials, learnt one by one."""
    seen: Moments = []
    flags = np.zeros(n, np.int8)
    for t, (X_t, y_t) in enumerate(X if y is None else zip(X, y, strict=True)):
        before = model.n_mistakes_ if t else 0
        model.learn_one(X_t, y_t)
        flags[t] = model.n_mistakes_ - before
        if _is_moment(t + 1, n):
            seen.append((t + 1, model.dual_, model.model_.gain, float(model.coef_ @ model.coef_)))
    return flags, seen


def _is_moment(done: int, n: int) -> bool:
    """Return True after some two hundred of `n` rounds, and after the last."""
    return done % max(1, n // 200) == 0 or done == n


def _broken(stream: Stream, case: Case, best: Best, h: float | None) -> str:
    """A sentence where the bound is LR eq. 2 and the stream breaks its condition on the Hessian; else nothing."""
    if h is None or best.final is None or not best.final.theorem.startswith("LR eq. 2"):
        return ""
    return condition(sums_of(stream, _nothing(stream, case), case.geometry), h)


def _tell(broken: str) -> None:
    if broken:
        warnings.warn(f"{broken} {AGAINST_IT}", stacklevel=3)


def _nothing(stream: Stream, case: Case) -> Any:
    """The comparator that prefers no label: 0, or on the simplex uniform weights."""
    entropy, (k, n) = entropy_of(case.geometry), (len(stream.labels), stream.X.shape[1])
    if entropy is None:
        return None, None
    return np.full((k, n), 0.0 if entropy[1] else entropy[0] / max(1, n))


def _comparators(stream: Stream, case: Case) -> list[Any]:
    """Nothing, then good fixed weights of ever longer beginnings of a stream, for each problem that helps a theorem."""
    longest = float(stream.sq_lengths.max(initial=0.0))
    per_length = stream.margin / longest if longest > 0 else 1.0
    problems = [(per_length if case.free_of_cap else case.C, case.squared)]
    if case.separable:
        problems = [(math.inf, False), (2.0 * per_length, True)]  # PA theorem 2, then 3
    runs = [found for C, squared in problems for found in _of_beginnings(stream, case, C, squared)]
    if case.free_of_cap and len(stream):
        runs += _at_best_cap(stream, runs[-1], longest)
    return [_nothing(stream, case), *(found.u for found in runs)]


def _at_best_cap(stream: Stream, start: Hindsight, longest: float) -> list[Hindsight]:
    """Better weights where predictions do not depend on C: the best C follows from weights and their bound."""
    s = sums_of(stream, start.u)
    least = float(formulas.at_best_cap(s).value[-1])
    if least <= 0 or s.complexity <= 0:
        return []
    return [hindsight(stream, math.sqrt(2.0 * s.complexity / (longest * least)), max_epochs=EPOCHS, start=start)]


def _of_beginnings(stream: Stream, case: Case, C: float, squared: bool) -> list[Hindsight]:
    """Good fixed weights of ever longer beginnings, each found from the one before; none that need to be separable."""
    found: list[Hindsight] = []
    for stop in _ends_of_heads(stream):
        how = {"squared": squared, "geometry": case.geometry, "tol": 1e-3 if stop == len(stream) else 1e-2}
        try:
            before = found[-1] if found else None
            found.append(hindsight(stream.head(stop), C, max_epochs=EPOCHS, start=before, **how))
        except ValueError:  # not separable
            if math.isfinite(C):
                raise
            break
    return found


def _ends_of_heads(stream: Stream) -> list[int]:
    """Where ever longer beginnings of a stream end: evenly spread, fewer where each takes long, and some early ones."""
    n = len(stream)
    heads = int(np.clip(WORK / max(1, stream.X.nnz * len(stream.labels)), 4, 30))
    stops = [n * i // heads for i in range(heads, 0, -1)]
    stops += [stops[-1] >> i for i in range(1, 5)]
    return sorted(stop for stop in stops if stop >= min(n, SHORTEST_HEAD))


def _best(stream: Stream, case: Case, us: Sequence[Any]) -> Best:
    """The least bound over comparators and theorems, after each round."""
    mistakes = np.full(len(stream), math.inf)
    best, reasons = Best(mistakes, None, 0.0, None, ""), []
    for u in us:
        s = sums_of(stream, u, case.geometry)
        for theorem, curve in case.proven.items():
            terms = curve(s, case.C)
            mistakes = np.minimum(mistakes, terms.value / terms.per_mistake)
            try:
                bound = last(theorem, terms)
            except ValueError as reason:
                reasons.append(str(reason))
                continue
            if best.final is None or bound.mistakes < best.final.mistakes:
                best = Best(mistakes, bound, s.complexity, _paid(s, case), "")
    if best.final is None:
        none = f"no fixed weights without loss were found, which the bound of rule={case.rule!r} needs."
        best = best._replace(why=" ".join(dict.fromkeys(reasons)) or none)
    return best._replace(mistakes=mistakes)


def _paid(s: Sums, case: Case) -> float | None:
    """The objective of a comparator; None if it has a loss where none is allowed."""
    lost = total(s.squared if case.squared else s.loss)
    return None if case.separable and lost else s.complexity + (case.C * lost if lost else 0.0)
