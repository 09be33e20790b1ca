"""Rows are cut into pieces between which signals are heard and progress is shown."""

import numpy as np

from hinged.loops.hearing import FIRST, pieces


def test_progress_reaches_every_share_of_the_rows_whatever_the_pieces():
    done = []
    for part in pieces(np.arange(1001), FIRST / 6, advance=lambda n: done.append(n)):
        assert part.stop - part.start <= 5
    assert done[0] == 3  # what the estimate of the first piece allows
    assert set(range(5, 1001, 5)) <= set(np.cumsum(done).tolist())
    assert sum(done) == 1000
