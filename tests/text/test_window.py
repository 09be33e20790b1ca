"""Features of tokens in a window: what each token sees of its neighbours."""

import pytest

from hinged.text import window

ROWS = [("He", "PRP"), ("sat", "VBD"), ("down", "RB")]


def test_neighbours_are_seen_as_far_as_asked_for():
    names = window(ROWS, around=1, joined=False, affixes=0, shape=False)
    assert names[0] == ["word=He", "+1 word=sat", "tag=PRP", "+1 tag=VBD", "first"]
    assert names[1] == ["word=sat", "-1 word=He", "+1 word=down", "tag=VBD", "-1 tag=PRP", "+1 tag=RB"]
    assert window(ROWS, around=0, joined=False, affixes=0, shape=False)[2] == ["word=down", "tag=RB", "last"]


def test_neighbours_are_joined():
    joined = [set(a) - set(b) for a, b in zip(window(ROWS), window(ROWS, joined=False), strict=True)]
    assert joined[1] == {
        *("-1+0 word=He|sat", "+0+1 word=sat|down", "-1+0 tag=PRP|VBD", "+0+1 tag=VBD|RB"),
        "-1+1 tag=PRP|VBD|RB",
    }
    assert "+0+2 tag=PRP|VBD|RB" in joined[0]
    assert "+1+2 tag=VBD|RB" in joined[0]


def test_a_name_means_the_same_wherever_it_stands():
    alone, more = window(["a", "b", "c"]), window(["x", "x", "x", "a", "b", "c", "x", "x", "x"])
    assert set(alone[1]) - {"first", "last"} <= set(more[4])


def test_ends_and_shapes_of_words():
    (names,) = window(["McX-9"], affixes=2)
    assert {"begins=M", "begins=Mc", "ends=9", "ends=-9", "shape=XxX-0", "lower=mcx-9", "first", "last"} <= set(names)
    assert not any(name.startswith(("begins=McX", "ends=X-9")) for name in names)


def test_odd_sentences():
    assert window([]) == []
    with pytest.raises(ValueError, match="as many columns"):
        window([("a", "b"), ("c",)])
