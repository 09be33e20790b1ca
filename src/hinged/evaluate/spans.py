"""Spans of tags in the BIO scheme, and how many of them were found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["span_f1", "spans"]


def spans(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    """The spans of a sentence: first token, one past the last, kind.

    As the CoNLL shared tasks count them: B- begins a span, and so does an I- that follows another kind or none.

    Examples
    --------
    >>> sorted(spans(["B-NP", "I-NP", "B-NP", "O", "I-VP"]))
    [(0, 2, 'NP'), (2, 3, 'NP'), (4, 5, 'VP')]
    """
    found = set()
    first, kind = 0, ""
    for i, tag in enumerate([*tags, "O"]):
        mark, _, of = tag.partition("-")
        goes_on = mark == "I" and of == kind
        if kind and not goes_on:
            found.add((first, i, kind))
        if not goes_on:
            first, kind = i, of if mark in ("B", "I") else ""
    return found


def span_f1(right: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> float:
    """Harmonic mean of how many predicted spans are right and how many right ones are predicted, in [0, 1].

    Examples
    --------
    >>> span_f1([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "O"]])
    0.6666666666666666
    """
    hits = total = 0
    for one, other in zip(right, predicted, strict=True):
        there, said = spans(one), spans(other)
        hits += len(there & said)
        total += len(there) + len(said)
    return 2.0 * hits / total if total else 1.0
