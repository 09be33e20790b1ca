"""The pictures of docs/kernels.md; called by docs/make_figures.py."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hinged
from hinged.evaluate import plots, progressive
from hinged.mercer import Budget

sys.path.append(str(Path(__file__).resolve().parents[1]))  # a script sees its own folder alone
from studies.digits import METHODS, SETS, digits

COLOURS = dict(zip(("PA-I", "MIRA", "Perceptron"), plots.COLOURS, strict=False))
DROPS = dict(zip(("project", "oldest", "smallest"), plots.COLOURS, strict=False))
SIZES = (50, 100, 200, 400, 800, 1600)


def kernels(panels: Callable[..., Any]) -> None:
    """Mistakes over the rounds by three rules on both sets of digits: figure 6 of the passive-aggressive paper."""
    title = "Handwritten digits with polynomial kernels"
    note = "mistakes so far of PA-I (C = 100), MIRA (β = 0.01) and the uniform Perceptron; PA, figure 6"
    with panels("kernels", 2, (10.4, 4.2), title, note) as axes:
        for ax, (name, kernel) in zip(axes, SETS.items(), strict=True):
            X, y = digits(name)
            ends = {}
            for method, settings in METHODS.items():
                model = hinged.Classifier(kernel=kernel, **settings)
                curve = progressive(model, X, y, classes=range(10)).curve
                shown = np.unique(np.linspace(0, len(curve) - 1, 600).astype(int))
                ax.plot(shown + 1, curve[shown], color=COLOURS[method], linewidth=1.8)
                ends[method] = int(curve[-1])
                print(f"  {name}, {method}: {ends[method]:,} mistakes")
            heights = plots.spread_labels(list(ends.values()), gap=0.05 * max(ends.values()))
            for (method, end), height in zip(ends.items(), heights, strict=True):
                place = (len(y) * 1.015, height)
                ax.annotate(f"{method}  {end:,}", place, va="center", color=COLOURS[method], annotation_clip=False)
            ax.set_xlim(0, len(y))
            ax.set_ylim(0, None)
            ax.locator_params(axis="x", nbins=4)
            ax.set_xlabel(f"rounds, {name.upper()}")
            ax.xaxis.set_major_formatter("{x:,g}")
            ax.yaxis.set_major_formatter("{x:,g}")
            ax.grid(axis="y", color=plots.HAIRLINE, linewidth=0.8)


def budgets(panels: Callable[..., Any]) -> None:
    """Mistakes as a function of the budget of support vectors."""
    X, y = digits("usps")

    def mistakes(budget: Any) -> int:
        model = hinged.Classifier("pa1", C=100.0, kernel=SETS["usps"], budget=budget)
        return int(model.partial_fit(X, y, classes=range(10)).n_mistakes_)

    title = "What a budget costs"
    note = "online mistakes of PA-I on 7,291 digits (USPS) against the rows remembered at most"
    free = mistakes(None)
    with panels("budgets", 1, (8.6, 4.4), title, note) as (ax,):
        ax.axhline(free, color=plots.INK, linewidth=1.2)
        ax.annotate(f"no budget  {free}", (SIZES[0], free), (0, -13), textcoords="offset points", color=plots.INK)
        for drop, colour in DROPS.items():
            sizes = SIZES[:4] if drop == "project" else SIZES
            counts = [mistakes(Budget(size, drop)) for size in sizes]
            ax.plot(sizes, counts, color=colour, linewidth=1.9, marker="o", markersize=4)
            ax.annotate(drop, (sizes[0] * 0.94, counts[0]), va="center", ha="right", color=colour, fontweight="bold")
            print(f"  {drop}: " + ", ".join(f"{s:,} rows {c:,}" for s, c in zip(sizes, counts, strict=True)))
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlim(30, None)
        ax.set_ylim(200, None)
        ax.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
        ax.set_yticks([250, 500, 1000, 2000, 4000], ["250", "500", "1,000", "2,000", "4,000"])
        ax.minorticks_off()
        ax.set_xlabel("rows remembered at most")
        ax.grid(axis="y", color=plots.HAIRLINE, linewidth=0.8)
