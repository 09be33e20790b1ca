"""Several learners on one stream, in turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hinged.evaluate.progressive import Learns
    from hinged.evaluate.report import Run

__all__ = ["side_by_side"]


def side_by_side(
    models: Mapping[str, Learns],
    X: Any,
    y: Any,
    *,
    chunk: int = 50,
    progress: Callable[[int, int], object] | None = None,
) -> list[Run]:
    """Let several learners learn one stream, a chunk each in turn, and return their results.

    Within a chunk every row is predicted, counted and learnt before the next, so the result does not
    depend on the size of the chunk.

    Parameters
    ----------
    models : mapping of str to estimator
        The learners by name; they are changed in place.
    X : sparse or dense matrix, (rounds, features)
        The stream, in order.
    y : sequence
        The right labels.
    chunk : int, default 50
        Rows that a learner takes in one turn.
    progress : callable, optional
        Called as ``progress(done, total)`` after each chunk of each learner, in rounds of all learners together.

    Returns
    -------
    list of Run
        In the order of `models`.

    Examples
    --------
    >>> import hinged
    >>> mail = hinged.datasets.mail_stream(n_messages=200, n_folders=5)
    >>> models = {rule: hinged.Classifier(rule) for rule in ("perceptron", "pa1")}
    >>> runs = side_by_side(models, mail.X, mail.y)
    >>> [len(run.progress.flags) for run in runs]
    [200, 200]
    """
    from hinged.evaluate.progressive import Progress, progressive
    from hinged.evaluate.report import Run

    if chunk < 1:
        raise ValueError(f"chunk must be at least 1; got {chunk}. Try 50.")
    n, done = len(y), 0
    parts: dict[str, list[Progress]] = {name: [] for name in models}
    for start in range(0, n, chunk):
        rows = slice(start, start + chunk)
        for name, model in models.items():
            part = progressive(model, X[rows], y[rows])
            parts[name].append(part)
            done += len(part.flags)
            if progress is not None:
                progress(done, n * len(models))
    return [Run(name, model, Progress.join(parts[name])) for name, model in models.items()]
