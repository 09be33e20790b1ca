"""`hinged explain`: which features speak for a label."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from hinged.cli.options import AsJson, Model, argument, option
from hinged.cli.tables import bold, dim, emit_json, say, shorten, width_of

if TYPE_CHECKING:
    from hinged.files.explain import Reason, TagReason

__all__ = ["explain"]

HALF = 18  # columns of a bar on either side
TEXT = (
    "A text; a JSON object of field → text; |features in VW's notation; index:value pairs. Standard input if left out."
)


def explain(
    text: Annotated[str | None, argument("TEXT", TEXT)] = None,
    *,
    model: Model,
    label: Annotated[str | None, option("NAME", "The label to explain; the best one if left out.")] = None,
    top: Annotated[int, option("K", "How many features to show.", min=1)] = 10,
    as_json: AsJson = False,
) -> None:
    """Show which words speak for a label, and which against it.

    The shares sum to the label's score. For a tagger, the tag of each word is explained; further columns follow a word
    after a slash, as in the/DT cat/NN.

    Example: hinged explain --model mail.hinged "the invoice is due"
    """
    given = _given(text)
    from hinged.estimators.sequence import SequenceTagger
    from hinged.files.examples import load_learner
    from hinged.files.explain import explain_one, explain_tags

    learner = load_learner(model)
    if isinstance(learner, SequenceTagger):
        if label is not None:
            raise typer.BadParameter("--label is for single labels; a tagger explains the tags it gives")
        tagged = explain_tags(learner, given, top)
        if as_json:
            objects = [{"word": one.word, "tag": one.tag, "features": _shares(one)} for one in tagged]
            emit_json(objects)
        else:
            _print_tags(tagged)
        return
    reason = explain_one(learner, given, label)
    if as_json:
        about = {name: getattr(reason, name) for name in ("label", "score", "rank")}
        about |= {"runner_up": reason.rival, "lead": reason.lead, "confidence": reason.confidence}
        about |= {"features": _shares(reason), "unknown": reason.unknown}
        emit_json(about)
    else:
        _print(reason, top)


def _shares(reason: Reason | TagReason) -> list[dict[str, object]]:
    return [{"feature": name, "share": share} for name, share in reason.features]


def _print_tags(tagged: list[TagReason]) -> None:
    """Print each word with its tag and the features that speak most for it."""
    widest = max(len(one.word) for one in tagged)
    for word, tag, features in tagged:
        named = (" → ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name, _ in features[:4])
        shares = (_signed(share, "+.2f") for _, share in features)
        spoken = ", ".join(f"{name} {share}" for name, share in zip(named, shares, strict=False))
        say(f"{word:>{widest}}  {bold(str(tag))}  {dim(spoken)}")


def _given(text: str | None) -> str:
    if text is not None and text != "-":
        return text
    if text is None and sys.stdin.isatty():
        raise typer.BadParameter("there is nothing to explain: give a text, or pipe one in")
    return sys.stdin.read()


def _print(reason: Reason, top: int) -> None:
    """Print a label's score, its rival, and the features that count most."""
    name = f"{reason.label:.4g}" if isinstance(reason.label, float) else str(reason.label)
    say(f"{bold(shorten(name, 60))}  {_place(reason)}: score {_signed(reason.score, '.3g')}{_beside(reason)}")
    if reason.rank == 1 and reason.confidence is not None:
        say(dim(f"right in about {100 * reason.confidence:.0f} of 100 such cases"))
    _print_features(reason.features, top)
    if reason.unknown:
        names = ", ".join(shorten(str(name), 24) for name in reason.unknown[:8])
        more = f" and {len(reason.unknown) - 8} more" if len(reason.unknown) > 8 else ""
        say(dim(f"  never learnt: {names}{more}"))


def _place(reason: Reason) -> str:
    """Where the label comes in the ranking, if the model ranks labels."""
    if not reason.n_labels:
        return "predicted"
    return "the best label" if reason.rank == 1 else f"number {reason.rank} of {reason.n_labels}"


def _beside(reason: Reason) -> str:
    """Where the label is, compared with its rival."""
    if reason.rival is None:
        return ""
    side = "ahead of" if reason.rank == 1 else "behind"
    where = f"{abs(reason.lead):.3g} {side}" if reason.lead else "level with"
    return f", {where} {shorten(str(reason.rival), 60)}"


def _print_features(features: Sequence[tuple[object, float]], top: int) -> None:
    """Print a bar for each of the largest shares, and the sum of the others."""
    shown, rest = features[:top], features[top:]
    if not shown:
        say("\nNone of these features has any weight for it.")
        return
    say()
    names = [shorten(str(name), 40) for name, _ in shown]
    widest, longest = max(map(width_of, names)), max(abs(share) for _, share in shown)
    signs = any(share < 0 for _, share in shown)
    for name, (_, share) in zip(names, shown, strict=True):
        padded = " " * (widest - width_of(name)) + name
        say(f"  {padded}  {_bar(share / longest, signs)}  {_signed(share, '+.3f')}")
    if rest:
        left = _signed(sum(share for _, share in rest), "+.3f")
        say(dim(f"\n  {len(rest):,} more features add {left}"))


def _signed(number: float, how: str) -> str:
    """A number with a minus sign, which is as wide as a plus, in place of the hyphen."""
    return format(number, how).replace("-", "−")


def _bar(share: float, signs: bool) -> str:
    """A bar to the right of the middle, or to the left if the share is negative."""
    drawn = (sys.stdout.encoding or "").lower().startswith("utf")
    full, left, right, middle = ("█", "▐", "▌", "│") if drawn else ("#", "", "", "|")
    whole, half = divmod(round(2 * abs(share) * HALF), 2)
    if share < 0:
        return f"{left * half + full * whole:>{HALF}}{middle}{'':{HALF}}"
    return f"{' ' * HALF if signs else ''}{middle}{full * whole + right * half:<{HALF}}"
