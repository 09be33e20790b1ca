"""Pictures of a run: cumulative mistakes, and how well confidence is calibrated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hinged.evaluate.progressive import Progress

__all__ = [
    "COLOURS",
    "MUTED",
    "draw_curves",
    "finish",
    "new_figure",
    "plot_mistakes",
    "plot_reliability",
    "reliability",
    "require_matplotlib",
    "save_figure",
    "spread_labels",
]

# Eight hues that can be told apart with common colour deficiencies (Okabe and Ito, with an indigo for black).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A9099", "#332288")
INK, MUTED, HAIRLINE = "#1b1f24", "#636b75", "#e4e6e9"
STYLE: dict[Any, Any] = {
    "axes.edgecolor": "#c3c7cc",
    "axes.labelcolor": MUTED,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 10.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "hinged",
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
}


def plot_mistakes(
    runs: Mapping[str, Progress], path: str | Path, *, title: str = "Cumulative mistakes", unit: str = "rounds"
) -> Path:
    """Draw the cumulative mistakes of several named runs over one stream, each labelled at its end.

    Parameters
    ----------
    runs : mapping of str to Progress
        What `hinged.evaluate.progressive` returned, by the name to show.
    path : path
        Where to write; the suffix chooses the format (``.png``, ``.svg``, ``.pdf``).
    title : str
        Title of the picture.
    unit : str, default "rounds"
        What a round is, in the plural.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> from types import SimpleNamespace as Run
    >>> import tempfile, os
    >>> runs = {"one": Run(curve=[1, 1, 2], flags=[1, 0, 1]), "two": Run(curve=[1, 2, 3], flags=[1, 1, 1])}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plot_mistakes(runs, os.path.join(folder, "mistakes.svg")).name
    'mistakes.svg'
    """
    if not runs:
        raise ValueError("there is nothing to plot: runs is empty. Give at least one named Progress.")
    with new_figure((10, 5.6)) as (figure, axes):
        curves = {name: np.asarray(run.curve) for name, run in runs.items()}
        longest = max(len(curve) for curve in curves.values())
        top = max(1, *(int(curve[-1]) for curve in curves.values() if len(curve)))
        first = next(iter(runs.values()))
        novel = np.flatnonzero(np.asarray(first.flags) == -1)
        axes.plot(novel + 1, np.full(len(novel), -0.022 * top), "|", color=MUTED, markersize=6, markeredgewidth=0.9)
        drawn = {name: (np.arange(1, len(curve) + 1), curve) for name, curve in curves.items()}
        draw_curves(axes, drawn, COLOURS, longest, top)
        axes.set_ylim(-0.045 * top, 1.04 * top)
        axes.set_xlabel(f"{unit}, in order of arrival" + (" (a tick marks a new label)" if len(novel) else ""))
        finish(axes, title, "mistakes so far, each counted before the right answer was learnt")
        return save_figure(figure, path)


def draw_curves(
    axes: Axes, curves: Mapping[str, tuple[Any, Any]], colours: Sequence[str], longest: int, top: float
) -> None:
    """Draw named curves, given as rounds and values, of up to `longest` rounds; each is labelled where it ends."""
    ends = [float(values[-1]) if len(values) else 0.0 for _, values in curves.values()]
    heights = spread_labels(ends, gap=0.05 * top)
    for i, (name, (rounds, values)) in enumerate(curves.items()):
        colour, end, height = colours[i % len(colours)], ends[i], heights[i]
        axes.plot(rounds, values, color=colour, linewidth=1.8, solid_capstyle="round")
        elbow = [longest * 1.004, longest * 1.02, longest * 1.03]
        axes.plot(elbow, [end, height, height], color=colour, linewidth=1.2, clip_on=False)
        at = (longest * 1.035, height)
        axes.annotate(f"{name}  {end:,.0f}", at, va="center", fontsize=10, annotation_clip=False)
    axes.set_xlim(0, longest)


def plot_reliability(confidence: ArrayLike, hit: ArrayLike, path: str | Path, *, bins: int = 10) -> Path:
    """Draw how often predictions were right against how sure they were.

    A calibrated confidence lies on the diagonal: of the predictions made with confidence 0.8, eight in ten
    are right. The size of a point shows how many predictions it stands for.

    Parameters
    ----------
    confidence : array-like of float in [0, 1]
        The confidence of each prediction.
    hit : array-like of bool
        True where the prediction was right.
    path : path
        Where to write; the suffix chooses the format.
    bins : int, default 10
        Number of equal intervals of confidence.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plot_reliability([0.25, 0.75, 0.75], [False, True, True], os.path.join(folder, "sure.png")).name
    'sure.png'
    """
    mean_sure, mean_right, share = reliability(confidence, hit, bins)
    error = float(np.sum(share * np.abs(mean_sure - mean_right)))
    with new_figure((6.4, 6.2)) as (figure, axes):
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=(0, (4, 4)))
        axes.plot(mean_sure, mean_right, color=COLOURS[0], linewidth=1.4, alpha=0.6)
        axes.scatter(mean_sure, mean_right, s=24 + 900 * share, color=COLOURS[0], alpha=0.85, linewidths=0, zorder=3)
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(-0.02, 1.02)
        axes.set_aspect("equal")
        axes.set_xlabel("confidence")
        note = f"share of right predictions · mean gap to the diagonal {error:.3f}"
        finish(axes, "Calibration of the confidence", note)
        return save_figure(figure, path)


def reliability(
    confidence: ArrayLike, hit: ArrayLike, bins: int = 10
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Mean confidence, share of right predictions and share of all predictions, in equal intervals of confidence.

    Examples
    --------
    >>> [part.tolist() for part in reliability([0.25, 0.75, 0.75, 0.75], [False, True, True, True], bins=2)]
    [[0.25, 0.75], [0.0, 1.0], [0.25, 0.75]]
    """
    sure, right = np.asarray(confidence, dtype=float), np.asarray(hit, dtype=float)
    if sure.shape != right.shape or sure.ndim != 1 or len(sure) == 0:
        raise ValueError(
            f"confidence and hit must be of one length, at least 1; got shapes {sure.shape} and {right.shape}."
        )
    if not (np.all(sure >= 0.0) and np.all(sure <= 1.0)):
        raise ValueError("confidence must lie in [0, 1]. Give the values of `confidence`, not scores.")
    place = np.minimum((sure * bins).astype(int), bins - 1)
    count = np.bincount(place, minlength=bins)
    kept = count > 0
    mean_sure, mean_right = (np.bincount(place, values, bins)[kept] / count[kept] for values in (sure, right))
    return mean_sure, mean_right, count[kept] / len(sure)


def spread_labels(positions: Sequence[float], gap: float) -> list[float]:
    """Move label positions apart until neighbours are `gap` from each other, in the same order.

    Labels that collide end up centred on their wanted positions (a least-squares fit).

    Examples
    --------
    >>> spread_labels([0.0, 1.0, 10.0], gap=3.0)
    [-1.0, 2.0, 10.0]
    """
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    blocks: list[tuple[float, int]] = []  # (sum of the wanted positions of a block's foot, labels in it)
    for i in order:
        total, size = positions[i], 1
        while blocks and total / size < blocks[-1][0] / blocks[-1][1] + gap * blocks[-1][1]:
            below, n_below = blocks.pop()
            total, size = below + total - size * gap * n_below, n_below + size
        blocks.append((total, size))
    placed = [0.0] * len(positions)
    heights = (total / size + gap * j for total, size in blocks for j in range(size))
    for i, height in zip(order, heights, strict=True):
        placed[i] = height
    return placed


def require_matplotlib() -> None:
    """Raise ImportError, saying what to install, if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib, which is not installed. Run `pip install 'hinged[plot]'`."
        ) from error


@contextmanager
def new_figure(size: tuple[float, float]) -> Iterator[tuple[Figure, Axes]]:
    """Yield a figure with one pair of axes, without changing the global state of matplotlib."""
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=size, dpi=160)
        yield figure, figure.add_subplot()


def finish(axes: Axes, title: str, note: str) -> None:
    """Add the grid, a title and a note below it."""
    axes.grid(axis="y", color=HAIRLINE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, pad=6)
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.set_title(f"{note}\n", loc="left", fontsize=10, color=MUTED, pad=2)
    axes.annotate(
        title, (0, 1), (0, 30), xycoords="axes fraction", textcoords="offset points", fontsize=15, fontweight="bold"
    )


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write a figure and return its path; the same run gives the same file."""
    path = Path(path)
    still = {"Date": None} if path.suffix == ".svg" else None
    figure.savefig(path, bbox_inches="tight", pad_inches=0.3, metadata=still)
    return path
