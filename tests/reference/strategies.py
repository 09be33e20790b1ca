"""What Hypothesis draws from: short streams with many ties, and settings worth trying."""

import os

from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.reference.streams import Stream

LABELS = [0, 1, 2, 3]
SCHEMES = (
    {"sharing": "multi"},
    {"sharing": "single", "features": "first"},
    {"sharing": "single", "features": "frequency"},
    {"sharing": "hybrid", "features": "distance"},
    {"sharing": "hybrid", "features": "tfidf"},
)
#: How many times more examples than usual.
patience = 20 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 1

caps = st.sampled_from([0.015625, 0.125, 1.0, 4.0])
#: Labels that are declared, and what happens to rounds that bring others.
protocols = st.sampled_from([(LABELS, "learn"), (None, "learn"), (None, "skip")])
margins = st.sampled_from([0.5, 1.0, 2.0])
biases = st.sampled_from([0.0, 0.5, -2.0])
seeds = st.integers(0, 2**31)
eighths = st.integers(-24, 24).map(lambda v: v / 8)


@st.composite
def streams(draw, sets=False, longest=10):
    """Short streams of multiples of 1/8, so that ties, zero rows and repeated rows are common."""
    rounds, features = draw(st.integers(1, longest)), draw(st.integers(1, 4))
    X = draw(arrays(float, (rounds, features), elements=eighths))
    one = (
        st.sets(st.sampled_from(LABELS)).map(lambda labels: tuple(sorted(labels))) if sets else st.sampled_from(LABELS)
    )
    y = draw(st.lists(one, min_size=rounds, max_size=rounds))
    return Stream(X, y, LABELS, X)
