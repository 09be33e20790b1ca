"""The bound that is proven of a learner's rule, and how it, the certificate and the mistakes grow as a stream runs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hinged.bounds import formulas
from hinged.bounds.comparators import Sums, entropy_of, sums_of, total
from hinged.bounds.formulas import Bound, Terms, gain_per_mistake, last
from hinged.bounds.solver import Hindsight, hindsight
from hinged.bounds.streams import Stream, as_stream
from hinged.bounds.theorems import AGAINST_IT, condition
from hinged.estimators.stream import settled_like
from hinged.estimators.trials import Trials
from hinged.loops.ledger import GAIN, SQ_NORM
from hinged.rules.table import RULES, name_of
from hinged.rules.words import is_constant, is_one, is_softened, is_uncapped

__all__ = ["Trace", "mistake_bound", "trace"]

SHORTEST_HEAD = 32
WORK = 1e8  # values of the stream times labels that all beginnings together may hold
EPOCHS = 30

#: What is proven of each rule: name of the theorem → from the sums and C to its terms after each round.
PROVEN: dict[str, dict[str, Callable[[Sums, float], Terms]]] = {
    "perceptron": {
        "LR eq. 2 at the best C": lambda s, C: formulas.at_best_cap(s),
        "HS theorem 1": lambda s, C: formulas.hypothesis_sharing(s),
    },
    "simperc": {"SP theorem 1 at the best C": lambda s, C: formulas.at_best_cap(s)},
    "uniform": {"SP theorem 1 at the best C": lambda s, C: formulas.at_best_cap(s)},
    "conproj": {"SP corollary 1": partial(formulas.dual_ascent, "conproj")},
    "simproj": {"the argument of SP theorem 1": partial(formulas.dual_ascent, "simproj")},
    "pa": {
        "PA theorem 2": lambda s, C: formulas.pa_separable(s),
        "PA theorem 3": lambda s, C: formulas.pa_equal_lengths(s),
    },
    "pa1": {"PA theorem 4": formulas.passive_aggressive_1, "LR eq. 2": partial(formulas.dual_ascent, "pa1")},
    "pa2": {"PA theorem 5": formulas.passive_aggressive_2},
    "optimal": {"LR eq. 2": partial(formulas.dual_ascent, "optimal")},
    "mira": {"LR eq. 2": partial(formulas.dual_ascent, "mira")},
}
#: The same for weights on the simplex, where predictions depend on C.
PROVEN_ENTROPIC: dict[str, str] = {
    "perceptron": "LR eq. 2",
    "pa1": "LR eq. 2",
    "optimal": "LR eq. 2",
    "simperc": "SP theorem 1",
    "uniform": "SP theorem 1",
    "conproj": "SP corollary 1",
    "simproj": "the argument of SP theorem 1",
}


class Case(NamedTuple):
    """A learner's rule by name, its C, its geometry, and what is proven of it."""

    rule: str
    C: float
    geometry: Any
    proven: dict[str, Callable[[Sums, float], Terms]]
    free_of_cap: bool  # predictions do not depend on C
    squared: bool = False  # its problem has squared losses
    separable: bool = False  # its problem allows no loss


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
        What the comparator of `final` pays.
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
    model: Any, X: Any, y: Any = None, classes: Any = None, *, u: object = None, h: float | None = 0.5
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
    case = _case(model)
    stream = as_stream(X, y, classes, like=model)
    best = _best(stream, case, _comparators(stream, case) if u is None else [u])
    if best.final is None:
        raise ValueError(best.why)
    _tell(_broken(stream, case, best, h))
    return best.final


def trace(model: Any, X: Any, y: Any = None, classes: Any = None, *, u: object = None, h: float | None = 0.5) -> Trace:
    """Let a fresh learner run over a stream, and watch its mistakes, its certificate and its bound.

    Every comparator bounds every beginning of the stream, so those found on ever longer beginnings are tried, and the
    least bound of each moment is taken.

    Parameters
    ----------
    model : Classifier, Ranker, TextClassifier, TextRanker or Trials
        Fresh; ends as after `partial_fit`.
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
    case = _case(model, named=False)
    stream = as_stream(X, y, classes, like=model)
    flags, seen = (_watch_trials if isinstance(model, Trials) else _watch)(model, X, y, classes, len(stream))
    moments, dual, gained, sq_norm = (np.array(column) for column in zip(*seen, strict=True))
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


def _watch(model: Any, X: Any, y: Any, classes: Any, n: int) -> tuple[np.ndarray, list[tuple[float, ...]]]:
    """Learn the stream; flags, and at some two hundred moments the rounds done, the dual and what it is made of."""
    seen: list[tuple[float, ...]] = []
    done, every = 0, max(1, n // 200)

    def note(more: int) -> None:
        nonlocal done
        done += more
        if done % every == 0 or done == n:
            sums = model.model_.ledger.sums
            seen.append((done, math.nan if model.dual_ is None else model.dual_, sums[GAIN], sums[SQ_NORM]))

    return model.learn_rounds(X, y, classes, None, 0, note).flags, seen


def _watch_trials(model: Trials, X: Any, y: Any, classes: Any, n: int) -> tuple[np.ndarray, list[tuple[float, ...]]]:
    """The same of raw trials, learnt one by one."""
    seen: list[tuple[float, ...]] = []
    flags, every = np.zeros(n, np.int8), max(1, n // 200)
    for t, (X_t, y_t) in enumerate(X if y is None else zip(X, y, strict=True)):
        before = model.n_mistakes_ if t else 0
        model.learn_one(X_t, y_t)
        flags[t] = model.n_mistakes_ - before
        if (t + 1) % every == 0 or t + 1 == n:
            dual = math.nan if model.dual_ is None else model.dual_
            seen.append((t + 1, dual, model.model_.gain, float(model.coef_ @ model.coef_)))
    return flags, seen


def _broken(stream: Stream, case: Case, best: Best, h: float | None) -> str:
    """A sentence where the bound is LR eq. 2 and the stream breaks its condition on the Hessian; else nothing."""
    if h is None or best.final is None or not best.final.theorem.startswith("LR eq. 2"):
        return ""
    return condition(sums_of(stream, _nothing(stream, case), case.geometry), h)


def _tell(broken: str) -> None:
    if broken:
        warnings.warn(f"{broken} {AGAINST_IT}", stacklevel=3)


def _case(model: Any, named: bool = True) -> Case:
    """What is proven of a learner."""
    settled, geometry = model.check_settings(), model.geometry
    if getattr(settled, "caps", ()):
        raise ValueError(
            "no theorem of the papers covers C='auto', learners side by side; pass C=1, and for the papers' plain "
            "learner scaling=None, normalize=False, average=False and bias=0 too."
        )
    given = model.rule if isinstance(model, Trials) else settled_like(model).rule
    rule = name_of(given) or given
    C = (settled.step if isinstance(model, Trials) else settled.rule).C
    if not isinstance(rule, str):
        if named:
            raise ValueError(f"no theorem covers a rule of your own; got rule={rule!r}.")
        return Case(getattr(rule, "__name__", "own"), C, geometry, {}, False)
    words, is_euclidean = RULES[rule].words, entropy_of(geometry) is None
    proven = PROVEN.get(rule, {})
    if not is_euclidean:
        names = [PROVEN_ENTROPIC[rule]] if rule in PROVEN_ENTROPIC else []
        proven = {name: partial(formulas.dual_ascent, rule) for name in names}
    one_step = is_uncapped(words) and is_one(words)
    return Case(rule, C, geometry, proven, is_constant(words) and is_euclidean, is_softened(words), one_step)


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
    us = [_nothing(stream, case), *(found.u for found in runs)]
    if case.free_of_cap:  # the best C for the bound follows from u and the bound itself
        s = sums_of(stream, us[-1])
        least = float(formulas.at_best_cap(s).value[-1]) if len(stream) else 0.0
        if least > 0 and s.complexity > 0:
            C = math.sqrt(2.0 * s.complexity / (longest * least))
            us.append(hindsight(stream, C, max_epochs=EPOCHS, start=runs[-1]).u)
    return us


def _of_beginnings(stream: Stream, case: Case, C: float, squared: bool) -> list[Hindsight]:
    """Good fixed weights of ever longer beginnings, each found from the one before; none that need to be separable."""
    n = len(stream)
    heads = int(np.clip(WORK / max(1, stream.X.nnz * len(stream.labels)), 4, 30))  # fewer where each takes long
    stops = [n * i // heads for i in range(heads, 0, -1)]
    stops += [stops[-1] >> i for i in range(1, 5)]
    found: list[Hindsight] = []
    for stop in sorted(stop for stop in stops if stop >= min(n, SHORTEST_HEAD)):
        how = {"squared": squared, "geometry": case.geometry, "tol": 1e-3 if stop == n else 1e-2}
        try:
            before = found[-1] if found else None
            found.append(hindsight(stream.head(stop), C, max_epochs=EPOCHS, start=before, **how))
        except ValueError:  # not separable
            if math.isfinite(C):
                raise
            break
    return found


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
    """What a comparator pays; None if it has a loss where none is allowed."""
    lost = total(s.squared if case.squared else s.loss)
    return None if case.separable and lost else s.complexity + (case.C * lost if lost else 0.0)
