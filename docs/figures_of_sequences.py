"""The picture of docs/sequences.md; called by docs/make_figures.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hinged
from hinged.evaluate import plots, progressive, span_f1
from hinged.io.examples import read_sentences
from hinged.text import window

BLUE, ORANGE, GREEN, PINK = plots.COLOURS[:4]
PASSES = 6
LEARNERS = {
    "pa1, max-loss": ({"constraint": "max-loss"}, PINK),
    "simproj, 5 best": ({"rule": "simproj", "n_best": 5}, GREEN),
    "pa1, prediction": ({}, BLUE),
    "perceptron": ({"rule": "perceptron"}, ORANGE),
}


def chunks(part: str) -> tuple[list[list[list[str]]], list[list[str]]]:
    """Features and tags of CoNLL-2000."""
    sentences = list(read_sentences(hinged.datasets.folder("conll2000") / f"{part}.txt.gz"))
    return [window(s.tokens, affixes=0, shape=False) for s in sentences], [s.tags for s in sentences]


def sequences(panels: Callable[..., Any]) -> None:
    """Span F1 on the test sentences after each pass, with and without averages."""
    X, y = chunks("train")
    X_test, y_test = chunks("test")
    title = "Averages help every rule, and so does looking beyond the prediction"
    note = f"span F1 on the test sentences of CoNLL-2000 after each of {PASSES} passes over {len(y):,} sentences"
    with panels("sequences", 2, (9.4, 4.2), title, note, sharey=True) as axes:
        for ax, average in zip(axes, (False, True), strict=True):
            for name, (settings, colour) in LEARNERS.items():
                model = hinged.SequenceTagger(average=average, **settings)
                curve = []
                for _ in range(PASSES):
                    progressive(model, X, y, classes={tag for tags in y for tag in tags})
                    curve.append(100 * span_f1(y_test, model.predict(X_test)))
                ax.plot(range(1, PASSES + 1), curve, color=colour, linewidth=1.9, label=name)
                print(f"  {'averaged' if average else 'last weights'}, {name}: {curve[0]:.2f} ... {curve[-1]:.2f}")
            ax.set_xlabel("averaged weights, passes" if average else "last weights, passes")
            ax.set_xticks(range(1, PASSES + 1))
            ax.yaxis.set_major_formatter("{x:g} %")
            ax.grid(axis="y", color=plots.HAIRLINE, linewidth=0.8)
        axes[1].legend(frameon=False, loc="lower right")
