"""Draw every figure of the documentation, and print the tables of its pages on rules and settings.

    python docs/make_figures.py                   every picture, into docs/images
    python docs/make_figures.py mistakes noise    some of them
    python docs/make_figures.py --tables          the tables, to stdout

Real data sets are looked up in `hinged.datasets.places()`. If one is missing, its figures are skipped with a message,
and the existing ones are kept.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import figure_of_architecture
import figures_of_columns
import figures_of_kernels
import figures_of_mail
import figures_of_page
import figures_of_sequences
import figures_of_tasks
import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from numba import njit
from scipy.sparse import csr_array

import hinged
from hinged.cli.demo import LEARNERS
from hinged.evaluate import plots, progressive

IMAGES = Path(__file__).with_name("images")
BLUE, ORANGE, GREEN, PINK = plots.COLOURS[:4]
TEXT = {"scaling": "idf", "normalize": True, "novel": "skip"}  # the protocol of the papers, as the pages say
USERS = ("beck-s", "farmer-d", "kaminski-v", "kitchen-l", "lokay-m", "sanders-r", "williams-w3")
RULES = ("perceptron", "uniform", "simperc", "conproj", "simproj", "pa", "pa1", "pa2", "mira", "optimal")
CAPS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
NOISE = (0.0, 0.1, 0.3)
NOISE_RULES = {"pa1": BLUE, "pa2": ORANGE, "optimal": PINK, "simproj": GREEN}


# ---------------------------------------------------------------------------------------------------- streams
class Stream(NamedTuple):
    """Rows and labels in the order of their arrival."""

    X: Any
    y: np.ndarray


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def of_documents(documents: Sequence[list[str]], labels: Sequence[str]) -> Stream:
    """Return binary word features, with columns in order of appearance."""
    column: dict[str, int] = {}
    rows = [sorted({column.setdefault(word, len(column)) for word in document}) for document in documents]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    indices = np.concatenate(rows).astype(np.int32)
    return Stream(csr_array((np.ones(len(indices)), indices, indptr), shape=(len(rows), len(column))), np.array(labels))


def read_lines(name: str, file: str) -> Iterator[dict[str, Any]]:
    with gzip.open(hinged.datasets.folder(name) / file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@cache
def enron(user: str) -> Stream:
    """One user's mail: words of subject and body, addresses and subject words tagged by their field."""
    documents, labels = [], []
    for mail in read_lines("enron_folders", f"{user}.jsonl.gz"):
        people = [f"from:{who}" for who in re.findall(r"[^\s,]+", mail["from"].lower())]
        people += [f"to:{who}" for who in re.findall(r"[^\s,]+", f"{mail['to']},{mail['cc']}".lower())]
        subject = words(mail["subject"])
        documents.append([*people, *(f"subject:{word}" for word in subject), *subject, *words(mail["body"])])
        labels.append(mail["folder"])
    return of_documents(documents, labels)


@cache
def newsgroups() -> Stream:
    """20 Newsgroups by date: words of subject and body, subject words tagged too."""
    documents, labels = [], []
    for post in read_lines("twenty_newsgroups", "twenty_newsgroups.jsonl.gz"):
        subject = words(post["subject"])
        documents.append([*(f"subject:{word}" for word in subject), *subject, *words(post["body"])])
        labels.append(post["group"])
    return of_documents(documents, labels)


@cache
def reuters() -> tuple[Any, list[list[str]]]:
    """Reuters-21578 in order of time, stories with at least one topic; words of title and body."""
    stories = [story for story in read_lines("reuters21578", "reuters21578.jsonl.gz") if story["topics"]]
    documents = [words(f"{story['title']} {story['body']}") for story in stories]
    return of_documents(documents, [story["id"] for story in stories]).X, [story["topics"] for story in stories]


@cache
def letter() -> Stream:
    data = np.load(hinged.datasets.folder("letter") / "letter.npz")
    return Stream(data["X"].astype(float), np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))[data["y"]])


@cache
def usps() -> Stream:
    data = np.load(hinged.datasets.folder("usps") / "usps.npz")
    return Stream(data["x_train"].astype(float), data["y_train"].astype(int))


@cache
def mail() -> Stream:
    made = hinged.datasets.mail_stream()
    return Stream(made.X, made.y)


# ---------------------------------------------------------------------------------------------------- measuring
def plain(rule: str = "pa1", C: float = 1.0, **settings: Any) -> hinged.Classifier:
    """Return a learner of the papers, unless settings say otherwise: one C, rows as they are."""
    return hinged.Classifier(rule, C, **{"scaling": None, **settings})


def percent(stream: Stream, closed: bool = False, **settings: Any) -> float:
    """Online mistakes in percent of the counted rounds."""
    classes = sorted(set(stream.y.tolist())) if closed else None
    model = plain(**{"novel": "skip", **settings})
    return 100.0 * progressive(model, stream.X, stream.y, classes=classes).rate


@cache
def by_rule(rule: str) -> dict[str, float]:
    """Percent of mistakes of one rule on every stream, text with and without scaling; Enron as the users' mean."""
    found = {}
    for name, scaling in (("unscaled", {}), ("idf", TEXT)):
        found[f"Enron, {name}"] = float(np.mean([percent(enron(user), rule=rule, **scaling) for user in USERS]))
        found[f"Newsgroups, {name}"] = percent(newsgroups(), rule=rule, **scaling)
        found[f"mail, {name}"] = percent(mail(), rule=rule, **scaling)
    return found | {"USPS": percent(usps(), True, rule=rule), "Letter": percent(letter(), True, rule=rule)}


@cache
def under_noise(rule: str, noise: float, C: float) -> float:
    """Return percent of mistakes on correctly labelled digits if a share of the labels is drawn at random."""
    X, y = usps()
    rng = np.random.default_rng(0)
    wrong = rng.random(len(y)) < noise
    heard = np.where(wrong, rng.integers(0, 10, len(y)), y)
    flags = progressive(plain(rule, C), X, heard, classes=range(10)).flags
    return 100.0 * float(np.mean(flags[~wrong] == 1))


def in_blocks(stream: Stream, block: int = 100, **settings: Any) -> float:
    """Return percent of mistakes if each block is predicted by `predict` before it is learnt."""
    model = plain(**settings)
    wrong = counted = 0
    for start in range(0, len(stream.y), block):
        X, y = stream.X[start : start + block], stream.y[start : start + block]
        if start:
            known = np.isin(y, model.classes_)
            counted += int(known.sum())
            wrong += int((model.predict(X) != y)[known].sum())
        model.partial_fit(X, y)
    return 100.0 * wrong / counted


def confidence_before_learning(stream: Stream, **settings: Any) -> tuple[list[float], list[bool]]:
    """Return the confidence in each row and whether the prediction was right, without rows of new labels."""
    model, sure, right = plain(**settings), [], []
    known: set[Any] = set()
    for i, label in enumerate(stream.y.tolist()):
        x = stream.X[i : i + 1]
        if label in known and len(known) > 1:
            sure.append(float(model.confidence(x)[0]))
            right.append(model.predict(x)[0] == label)
        model.partial_fit(x, [label])
        known.add(label)
    return sure, right


# ---------------------------------------------------------------------------------------------------- pictures
@contextmanager
def panels(name: str, n: int, size: tuple[float, float], title: str, note: str, **options: Any) -> Iterator[list[Any]]:
    """Axes side by side under one title, saved as docs/images/`name`.png."""
    with rc_context(plots.STYLE):
        figure = Figure(figsize=size, dpi=160)
        axes = figure.subplots(1, n, squeeze=False, **options)[0].tolist()
        yield axes
        for ax in axes:
            ax.tick_params(length=0, pad=5)
            ax.set_axisbelow(True)
        figure.tight_layout(w_pad=2.5)
        height = size[1]
        figure.text(0.012, 1 + 0.42 / height, title, fontsize=15, fontweight="bold", va="bottom")
        figure.text(0.012, 1 + 0.14 / height, note, fontsize=10, color=plots.MUTED, va="bottom")
        figure.savefig(IMAGES / f"{name}.png", bbox_inches="tight", pad_inches=0.3)


def architecture() -> None:
    """The packages, and how one example passes through them."""
    figure_of_architecture.draw(IMAGES / "architecture.svg")


def mistakes() -> None:
    """The picture of `hinged demo`."""
    made = hinged.datasets.mail_stream()
    models = {name: hinged.Classifier(**settings) for name, settings in LEARNERS.items()}
    runs = hinged.experiments.side_by_side(models, made.X, made.y)
    title = f"Six learners file {len(made):,} messages"
    plots.plot_mistakes({r.name: r.progress for r in runs}, IMAGES / "mistakes.png", title=title, unit="messages")


def scaling() -> None:
    """Every rule with and without online scaling, on three streams of text."""
    order = sorted(RULES, key=lambda rule: -by_rule(rule)["Enron, idf"])
    streams = {"Enron": "Enron, mean of seven users", "Newsgroups": "20 Newsgroups by date", "mail": "generated mail"}
    title = "On text, online scaling helps every rule"
    note = "percent of online mistakes on text: unscaled features, and with scaling='idf', normalize=True"
    with panels("scaling", 3, (10.4, 4.4), title, note, sharey=True) as axes:
        for ax, (key, caption) in zip(axes, streams.items(), strict=True):
            for height, rule in enumerate(order):
                plain, scaled = by_rule(rule)[f"{key}, unscaled"], by_rule(rule)[f"{key}, idf"]
                ax.plot([plain, scaled], [height, height], color=plots.HAIRLINE, linewidth=3, zorder=1)
                ax.plot(plain, height, "o", color="white", markeredgecolor=plots.MUTED, markersize=7, zorder=2)
                ax.plot(scaled, height, "o", color=BLUE, markersize=7.5, zorder=3)
            ax.set_xlim(0, None)
            ax.set_xlabel(caption)
            ax.xaxis.set_major_formatter("{x:g} %")
            ax.grid(axis="x", color=plots.HAIRLINE, linewidth=0.8)
            ax.spines["left"].set_visible(False)
        axes[0].set_yticks(range(len(order)), order, color=plots.INK)
        top, best = len(order) - 1, by_rule(order[-1])
        for name, meaning, colour in (("idf", "scaled", BLUE), ("unscaled", "unscaled", plots.MUTED)):
            axes[2].annotate(
                meaning, (best[f"mail, {name}"], top), (0, 9), textcoords="offset points", ha="center", color=colour
            )
        axes[0].set_ylim(-0.6, top + 0.9)


def noise() -> None:
    """The effect of C with noisy labels."""
    title = "With wrong labels, C decides; simproj forgives"
    note = "percent of mistakes on the rightly labelled USPS digits, while a share of the labels heard is random"
    with panels("noise", 3, (10.4, 4.2), title, note, sharey=True) as axes:
        for ax, share in zip(axes, NOISE, strict=True):
            ends = [under_noise(rule, share, CAPS[-1]) for rule in NOISE_RULES]
            heights = plots.spread_labels(ends, gap=2.6)
            for (rule, colour), height in zip(NOISE_RULES.items(), heights, strict=True):
                rates = [under_noise(rule, share, C) for C in CAPS]
                ax.plot(CAPS, rates, color=colour, linewidth=1.9, marker="o", markersize=3.5)
                if ax is axes[-1]:
                    ax.annotate(
                        rule,
                        (CAPS[-1] * 1.35, height),
                        va="center",
                        color=colour,
                        fontweight="bold",
                        annotation_clip=False,
                    )
            ax.set_xscale("log")
            ax.set_xticks([0.001, 0.01, 0.1, 1.0], ["0.001", "0.01", "0.1", "1"])
            ax.minorticks_off()
            ax.set_ylim(0, 45)
            ax.yaxis.set_major_formatter("{x:g} %")
            ax.set_xlabel("C")
            ax.set_title(f"{100 * share:g} % of the labels random" if share else "labels as they are", fontsize=10.5)
            ax.grid(axis="y", color=plots.HAIRLINE, linewidth=0.8)


def reliability() -> None:
    """Confidence before learning against hits, over all seven Enron users."""
    sure: list[float] = []
    right: list[bool] = []
    for user in USERS:
        theirs = confidence_before_learning(enron(user), **TEXT)
        sure += theirs[0]
        right += theirs[1]
    plots.plot_reliability(sure, right, IMAGES / "reliability.png")
    hits = np.array(right)
    for bar in (0.0, 0.5, 0.8, 0.9):
        kept = np.array(sure) >= bar
        print(
            f"  confidence >= {bar}: {kept.mean():.1%} of {len(hits):,} messages, {hits[kept].mean():.1%} of them right"
        )


def certificate() -> None:
    """The certificate and the objective of the best fixed weights on the same rounds, found exactly in hindsight."""
    from sklearn.datasets import load_digits
    from sklearn.svm import LinearSVC

    n, C = 1000, 1.0
    X, y = (rows[:n] for rows in load_digits(return_X_y=True))
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    lines = {"optimal": PINK, "pa1": BLUE, "simproj": GREEN}
    stops = [*range(10, 100, 10), *range(100, n + 1, 50)]
    least = []
    for stop in stops:  # Crammer and Singer's SVM minimises the very objective that the certificate bounds
        best = LinearSVC(multi_class="crammer_singer", C=C, fit_intercept=False, tol=1e-6, max_iter=100_000)
        U = best.fit(X[:stop], y[:stop]).coef_
        position = np.searchsorted(best.classes_, y[:stop])
        scores = X[:stop] @ U.T
        own = scores[np.arange(stop), position].copy()
        scores[np.arange(stop), position] = -np.inf
        least.append(0.5 * float((U**2).sum()) + C * float(np.maximum(0.0, 1.0 - own + scores.max(axis=1)).sum()))
    title = "A floor that is proven while learning"
    note = "½‖u‖² + C·Σ loss of the best fixed weights on the digits so far, and each rule's certificate below it"
    with panels("certificate", 1, (8.6, 4.6), title, note) as (ax,):
        ends = {"best fixed weights, in hindsight": least[-1]}
        ax.plot([0, *stops], [0, *least], color=plots.INK, linewidth=1.8)
        for rule in lines:
            model, values = plain(rule, C).declare(sorted(set(y.tolist()))), [0.0]
            for i in range(n):
                model.partial_fit(X[i : i + 1], y[i : i + 1])
                values.append(float(model.dual_ or 0.0))
            ax.plot(range(n + 1), values, color=lines[rule], linewidth=1.8)
            ends[rule] = values[-1]
        for (name, _), height in zip(ends.items(), plots.spread_labels(list(ends.values()), gap=13), strict=True):
            colour = lines.get(name, plots.INK)
            ax.annotate(
                f"{name}  {ends[name]:.0f}", (n * 1.015, height), va="center", color=colour, annotation_clip=False
            )
        ax.set_xlim(0, n)
        ax.set_ylim(0, None)
        ax.set_xlabel("digits learnt")
        ax.xaxis.set_major_formatter("{x:,g}")
        ax.grid(axis="y", color=plots.HAIRLINE, linewidth=0.8)


def bounds() -> None:
    """Mistakes, the bound by the certificate and the bound by the theorem over a stream."""
    stream = hinged.datasets.mail_stream(n_messages=3000, n_folders=25)
    seen = hinged.bounds.trace(plain("optimal", **TEXT), stream.X, stream.y, h=None)
    hinged.bounds.plot_trace(seen, IMAGES / "bounds.png")


def projections() -> None:
    """One trial of two constraints in the plane, and the update of each rule."""
    start = np.array([-0.3, 0.05])
    Z = np.array([[1.2, 0.3], [0.35, 1.15]])  # the half-planes <w, z> >= 1
    loss = 1.0 - Z @ start
    alone = start + (loss / (Z**2).sum(axis=1))[:, None] * Z
    targets = {
        "pa1": (alone[int(np.argmax(loss))], BLUE, "the worst constraint alone", (12, -18), "left"),
        "simproj": (alone.mean(axis=0), GREEN, "the mean of both projections", (-22, 22), "center"),
        "optimal": (np.linalg.solve(Z, np.ones(2)), PINK, "both met, by the shortest way", (12, 16), "left"),
    }
    title = "Three ways to answer two violated constraints"
    note = "weights in the plane; in the shaded corner both margins are met; C is large here"
    with panels("projections", 1, (8.2, 5.0), title, note) as (ax,):
        x = np.linspace(-1, 3, 200)
        edges = [(1.0 - z[0] * x) / z[1] for z in Z]
        ax.fill_between(x, np.maximum(*edges), 3, color=plots.COLOURS[5], alpha=0.16, linewidth=0)
        for edge in edges:
            ax.plot(x, edge, color=plots.MUTED, linewidth=1)
        for end in alone:
            ax.plot(*zip(start, end, strict=True), color=plots.MUTED, linewidth=1, linestyle=(0, (3, 3)))
            ax.plot(*end, "o", color="white", markeredgecolor=plots.MUTED, markersize=6, zorder=3)
        for rule, (end, colour, meaning, (right, up), side) in targets.items():
            arrow = {
                "arrowstyle": "-|>",
                "color": colour,
                "linewidth": 2.2,
                "shrinkA": 4,
                "shrinkB": 0,
                "mutation_scale": 15,
            }
            ax.annotate("", end, start, arrowprops=arrow)
            place = {"textcoords": "offset points", "ha": side}
            ax.annotate(rule, end, (right, up), color=colour, fontweight="bold", **place)
            ax.annotate(meaning, end, (right, up - 13), color=plots.MUTED, fontsize=9, **place)
        ax.plot(*start, "o", color=plots.INK, markersize=7, zorder=4)
        ax.annotate("weights before", start, (0, -18), textcoords="offset points", ha="center", fontsize=9)
        ax.set(xlim=(-0.55, 1.6), ylim=(-0.12, 1.12), xticks=[], yticks=[], aspect="equal")
        for side in ("left", "bottom"):
            ax.spines[side].set_visible(False)


def tasks() -> None:
    """Binary, regression, ordinal and one-class learning."""
    figures_of_tasks.tasks(panels)


def replay() -> None:
    """Hits over time on a generated mailbox."""
    figures_of_mail.replay(panels)


def sequences() -> None:
    """Chunks of CoNLL-2000 by rule and pass."""
    figures_of_sequences.sequences(panels)


def kernels() -> None:
    """Digits with polynomial kernels."""
    figures_of_kernels.kernels(panels)


def budgets() -> None:
    """Mistakes as a function of the budget of support vectors."""
    figures_of_kernels.budgets(panels)


def page() -> None:
    """The mail page: page_wide_light, page_wide_dark, page_phone_dark and page_folders."""
    figures_of_page.screens()


def history() -> None:
    """history.png, from what the benchmarks have measured so far."""
    subprocess.run([sys.executable, "-m", "benchmarks.history"], cwd=Path(__file__).parents[1], check=True)


FIGURES: dict[str, Callable[[], None]] = {
    figure.__name__: figure
    for figure in (
        *(architecture, mistakes, scaling, noise, reliability, certificate, bounds, projections, tasks, sequences),
        *(kernels, budgets, replay, page, history),
    )
}


# ---------------------------------------------------------------------------------------------------- tables
def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a Markdown table."""
    print(f"\n{title}\n\n| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for row in rows:
        print("|", " | ".join(f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in row), "|")


def table_of_rules() -> None:
    heads = list(by_rule(RULES[0]))
    rows = [[f"`{rule}`", *by_rule(rule).values()] for rule in RULES]
    table("Every rule, sharing='multi', C=1: percent of online mistakes", ["rule", *heads], rows)


def table_of_sharing() -> None:
    learners: dict[str, dict[str, Any]] = {
        "`pa1` multi": TEXT,
        "`optimal` multi": {"rule": "optimal", **TEXT},
        "`pa1` single": {"sharing": "single", "features": "frequency", **TEXT},
        "`simproj` single": {"rule": "simproj", "sharing": "single", "features": "frequency", **TEXT},
        "`pa1` hybrid": {"sharing": "hybrid", "features": "frequency", **TEXT},
        "`optimal` hybrid": {"rule": "optimal", "sharing": "hybrid", "features": "frequency", **TEXT},
        "`pa1` multi, unscaled": {},
    }
    rows = [[user, *(percent(enron(user), **kind) for kind in learners.values())] for user in USERS]
    rows.append(["mean", *np.mean([row[1:] for row in rows], axis=0).tolist()])
    table("Sharing, with idf and unit rows, C=1: percent of online mistakes", ["Enron user", *learners], rows)


def table_of_sharing_times() -> None:
    """CPU time of hybrid relative to multi, best of two runs each."""
    rows = []
    for user in USERS:
        cells = []
        for rule in ("pa1", "optimal"):
            hybrid = {"sharing": "hybrid", "features": "frequency"}
            times = [min(seconds(enron(user), rule=rule, **kind, **TEXT) for _ in range(2)) for kind in ({}, hybrid)]
            cells.append(times[1] / times[0])
        rows.append([user, *cells])
    table("Time of hybrid over multi, with idf and unit rows", ["Enron user", "`pa1`", "`optimal`"], rows)


def seconds(stream: Stream, **settings: Any) -> float:
    """Return the CPU seconds of a pass."""
    began = time.process_time()
    progressive(plain(**settings), stream.X, stream.y)
    return time.process_time() - began


def table_of_columns() -> None:
    head, *rows = figures_of_columns.columns()
    table("Columns of numbers: percent of online mistakes, labels known", head, rows)
    head, *rows = figures_of_columns.noise()
    table("Wrong labels: percent of mistakes on correctly labelled rows", head, rows)


def table_of_features() -> None:
    rows = []
    for kind in ("first", "frequency", "distance", "tfidf"):
        cells = []
        for stream in (enron("sanders-r"), mail()):
            for sharing in ("single", "hybrid"):
                model = plain(sharing=sharing, features=kind, **TEXT)
                run = progressive(model, stream.X, stream.y)
                cells += [100.0 * run.rate, f"{run.seconds:.2f} s"]
        rows.append([f'`"{kind}"`', *cells])
    heads = [f"{stream}, {sharing}" for stream in ("sanders-r", "mail") for sharing in ("single", "hybrid")]
    table("Label features with pa1", ["features", *(h for head in heads for h in (head, "time"))], rows)


def table_of_groups() -> None:
    tree = hinged.sharing.Groups.tree(mail().y.tolist())
    rows = [
        [f"`{rule}`", *(percent(mail(), rule=rule, sharing=sharing, **TEXT) for sharing in ("multi", tree))]
        for rule in ("pa1", "optimal")
    ]
    table("A folder tree as groups (generated mail): percent of online mistakes", ["rule", "multi", "tree"], rows)


def table_of_noise() -> None:
    rows = [
        [f"`{rule}`", f"{share:.0%}", *(under_noise(rule, share, C) for C in CAPS)]
        for share in NOISE
        for rule in NOISE_RULES
    ]
    table(
        "Wrong labels (USPS): percent of mistakes on the rightly labelled rows",
        ["rule", "random", *(f"C={C:g}" for C in CAPS)],
        rows,
    )


def table_of_mail_fields() -> None:
    figures_of_mail.table_of_fields(USERS, table)


def table_of_promises() -> None:
    figures_of_mail.table_of_promises(USERS, table)


def table_of_senders() -> None:
    figures_of_mail.table_of_senders(USERS, table)


def table_of_averaging() -> None:
    streams = {
        "letter": (letter(), {}),
        "usps": (usps(), {}),
        "lokay-m": (enron("lokay-m"), TEXT),
        "mail": (mail(), TEXT),
    }
    rows = []
    for rule in ("perceptron", "pa1", "simproj", "optimal"):
        cells = [
            in_blocks(stream, rule=rule, average=average, **settings)
            for stream, settings in streams.values()
            for average in (False, True)
        ]
        rows.append([f"`{rule}`", *cells])
    heads = [head for name in streams for head in (name, f"{name}, average")]
    table("Averaging: percent of mistakes, blocks of 100 predicted before they are learnt", ["rule", *heads], rows)


def table_of_bias() -> None:
    streams = {"lokay-m": enron("lokay-m"), "mail": mail()}
    rows = [
        [f"{bias:g}", *(percent(stream, bias=bias, **TEXT) for stream in streams.values())]
        for bias in (0.0, 0.03, 0.1, 0.3, 1.0)
    ]
    table("Bias, pa1 with idf and unit rows: percent of online mistakes", ["bias", *streams], rows)


def table_of_rankings() -> None:
    X, y = reuters()
    rows = []
    for rule in RULES:
        run = progressive(hinged.Ranker(rule, C=1.0, **TEXT), X, y)
        rows.append([f"`{rule}`", 100 * run.rate, 100 * (1 - run.top(1)), f"{run.seconds:.2f} s"])
    heads = ["rule", "imperfect ranking", "one-error", "time"]
    table(f"Ranker on Reuters-21578 ({X.shape[0]:,} stories), idf and unit rows: percent", heads, rows)


def table_of_speed() -> None:
    stream, rows = newsgroups(), []
    for settings in (
        *({"rule": rule} for rule in ("perceptron", "pa1", "simproj", "optimal")),
        *({"rule": rule, "sharing": "hybrid", "features": "frequency"} for rule in ("pa1", "simproj", "optimal")),
    ):
        progressive(plain(**settings, **TEXT), stream.X[:200], stream.y[:200])  # compiles, where it must
        run = progressive(plain(**settings, **TEXT), stream.X, stream.y)
        cells = f"{run.seconds:.2f}", f"{len(stream.y) / run.seconds:,.0f}"
        rows.append([f"`{settings['rule']}`", settings.get("sharing", "multi"), *cells, 100 * run.rate])
    table("20 Newsgroups, predicted and learnt on one core", ["rule", "sharing", "seconds", "rows/s", "mistakes"], rows)


def table_of_a_rule_of_your_own() -> None:
    """The rule of docs/adding_a_rule.md, taken from there."""
    page = Path(__file__).with_name("adding_a_rule.md").read_text(encoding="utf-8")
    code = re.search(r"^@njit\ndef weighted.*?(?=^stream = )", page, re.MULTILINE | re.DOTALL)
    space: dict[str, Any] = {"njit": njit}
    exec(code[0] if code else "", space)
    text = {"mail, idf": mail(), "lokay-m, idf": enron("lokay-m"), "sanders-r, idf": enron("sanders-r")}
    dense = {"USPS": usps(), "Letter": letter()}
    rows = []
    for name, rule in (("`simproj`", "simproj"), ("weighted by loss", space["weighted"]), ("`pa1`", "pa1")):
        rates = [percent(stream, rule=rule, **TEXT) for stream in text.values()]
        rows.append([name, *rates, *(percent(stream, True, rule=rule) for stream in dense.values())])
    table("The rule of adding_a_rule.md: percent of online mistakes", ["rule", *text, *dense], rows)


TABLES = (
    table_of_rules,
    table_of_sharing,
    table_of_sharing_times,
    table_of_columns,
    table_of_features,
    table_of_groups,
    table_of_noise,
    table_of_averaging,
    table_of_mail_fields,
    table_of_promises,
    table_of_senders,
    table_of_bias,
    table_of_rankings,
    table_of_speed,
    table_of_a_rule_of_your_own,
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the pictures of the documentation.")
    parser.add_argument("figures", nargs="*", help=f"which ones; all by default: {', '.join(FIGURES)}")
    parser.add_argument("--tables", action="store_true", help="print the tables instead")
    given = parser.parse_args()
    if unknown := set(given.figures) - set(FIGURES):
        parser.error(f"there is no figure {', '.join(sorted(unknown))}; choose among {', '.join(FIGURES)}")
    IMAGES.mkdir(exist_ok=True)
    for make in TABLES if given.tables else [FIGURES[name] for name in given.figures or FIGURES]:
        try:
            if not given.tables:
                print(make.__name__)
            make()
        except FileNotFoundError as missing:
            print(f"left out {make.__name__}: {missing}", file=sys.stderr)


if __name__ == "__main__":
    main()
