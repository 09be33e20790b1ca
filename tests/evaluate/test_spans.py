"""Spans as the CoNLL shared tasks count them, beside the rules of their scorer written down."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hinged.evaluate import span_f1, spans


def by_the_scorer(tags):
    """The scorer's own way: at each token it asks whether a chunk has ended before it, and whether one begins."""
    found, first = set(), None
    before, kind_before = "O", ""
    for i, tag in enumerate([*tags, "O"]):
        mark, kind = (tag[0], tag[2:]) if tag != "O" else ("O", "")
        ends = (before in "BI" and mark in "BO") or (before != "O" and kind != kind_before)
        begins = (mark == "B") or (before == "O" and mark == "I") or (mark != "O" and kind != kind_before)
        if ends and first is not None:
            found.add((first, i, kind_before))
            first = None
        if begins:
            first = i
        before, kind_before = mark, kind
    return found


tag_lists = st.lists(st.sampled_from(["O", "B-NP", "I-NP", "B-VP", "I-VP"]), max_size=9)


@given(tag_lists)
def test_spans_are_those_of_the_scorer(tags):
    assert spans(tags) == by_the_scorer(tags)


@given(st.lists(st.tuples(tag_lists, tag_lists).map(lambda pair: (pair[0], (pair[1] + ["O"] * 9)[: len(pair[0])]))))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(pairs):
    hits = sum(len(by_the_scorer(a) & by_the_scorer(b)) for a, b in pairs)
    there, said = (sum(len(by_the_scorer(pair[side])) for pair in pairs) for side in (0, 1))
    f1 = span_f1([a for a, _ in pairs], [b for _, b in pairs])
    if hits:
        precision, recall = hits / said, hits / there
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall))
    else:
        assert f1 == (0.0 if there or said else 1.0)
