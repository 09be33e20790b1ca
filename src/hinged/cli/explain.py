"""`hinged explain`: why this label, in words."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from hinged.cli.options import AsJson, Model
from hinged.cli.tables import emit

__all__ = ["explain"]

HALF = 18  # columns of a bar on either side


def explain(
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="TEXT",
            help="A text; a JSON object of field → text; |features in VW's notation; index:value pairs. "
            "Standard input if left out.",
        ),
    ] = None,
    *,
    model: Model,
    label: Annotated[
        str | None, typer.Option(metavar="NAME", help="The label to explain; the best one if left out.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, metavar="K", help="How many features to show.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show which words speak for a label, and which against it.

    Their shares sum to the label's score. Of a tagger, what speaks for the tag of each word; further columns follow a
    word after a slash, as in the/DT cat/NN.

    Example: hinged explain --model mail.hinged "the invoice is due"
    """
    from hinged.cli.lean import import_lean

    given = _given(text)
    import_lean()
    from hinged.evaluate.examples import load_learner
    from hinged.evaluate.explain import explain_one
    from hinged.evaluate.tagging import is_tagger

    learner = load_learner(model, sentences=True)
    if is_tagger(learner):
        from hinged.cli.tagging import print_reasons

        return print_reasons(learner, given, label, top, as_json)
    reason = explain_one(learner, given, label)
    if as_json:
        about = {
            "label": reason.label,
            "score": reason.score,
            "rank": reason.rank,
            "runner_up": reason.rival,
            "lead": reason.lead,
            "confidence": reason.confidence,
            "features": [{"feature": name, "share": share} for name, share in reason.features],
            "unknown": reason.unknown,
        }
        emit(json.dumps(about, indent=2, ensure_ascii=False))
    else:
        _print(reason, top)


def _given(text: str | None) -> str:
    if text is not None and text != "-":
        return text
    if text is None and sys.stdin.isatty():
        raise typer.BadParameter("there is nothing to explain: give a text, or pipe one in")
    return sys.stdin.read()


def _print(reason: Any, top: int) -> None:
    from hinged.cli.tables import bold, dim, say, shorten, width_of

    which = "the best label" if reason.rank == 1 else f"number {reason.rank} of {reason.n_labels}"
    which = which if reason.n_labels else "predicted"
    rival = ""
    if reason.rival is not None and reason.lead == 0:
        rival = f", level with {shorten(str(reason.rival), 60)}"
    elif reason.rival is not None:
        where = "ahead of" if reason.rank == 1 else "behind"
        rival = f", {abs(reason.lead):.3g} {where} {shorten(str(reason.rival), 60)}"
    score = f"{reason.score:.3g}".replace("-", "−")
    name = f"{reason.label:.4g}" if isinstance(reason.label, float) else str(reason.label)
    say(f"{bold(shorten(name, 60))}  {which}: score {score}{rival}")
    if reason.rank == 1 and reason.confidence is not None:
        say(dim(f"right in about {100 * reason.confidence:.0f} of 100 such cases"))
    shown = reason.features[:top]
    if not shown:
        say("\nNone of these features has any weight for it.")
    else:
        say()
        names = [shorten(str(name), 40) for name, _ in shown]
        widest, longest = max(map(width_of, names)), max(abs(share) for _, share in shown)
        signs = any(share < 0 for _, share in shown)
        for name, (_, share) in zip(names, shown, strict=True):
            padded = " " * (widest - width_of(name)) + name
            say(f"  {padded}  {_bar(share / longest, signs)}  {share:+.3f}".replace("-", "−"))
        rest = reason.features[top:]
        if rest:
            say(dim(f"\n  {len(rest):,} more features add {sum(share for _, share in rest):+.3f}".replace("-", "−")))
    if reason.unknown:
        say(
            dim(
                f"  never learnt: {', '.join(shorten(str(name), 24) for name in reason.unknown[:8])}"
                + (f" and {len(reason.unknown) - 8} more" if len(reason.unknown) > 8 else "")
            )
        )


def _bar(share: float, signs: bool) -> str:
    """A bar to the right of the middle, or to its left where the share is negative."""
    full, half, middle = ("█", "▌", "│") if (sys.stdout.encoding or "").lower().startswith("utf") else ("#", "", "|")
    eighths = round(2 * abs(share) * HALF)
    bar = full * (eighths // 2) + (half if eighths % 2 else "")
    if not signs:
        return f"{middle}{bar:<{HALF}}"
    if share < 0:
        bar = ("▐" if eighths % 2 and half else "") + full * (eighths // 2)
        return f"{bar:>{HALF}}{middle}{'':{HALF}}"
    return f"{'':{HALF}}{middle}{bar:<{HALF}}"
