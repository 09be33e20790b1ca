"""The simulation behind the capacity plan runs the code of a stream's buckets."""

from tests import needs

import hinged
from hinged.scale import Lessons


def test_mailboxes_grow_by_the_code_of_a_stream(monkeypatch):
    needs.module("pyspark", 'pip install "hinged[scale]"')
    from benchmarks import scale_plan

    for name, value in {"BUCKETS": 2, "EACH": 2, "SHOWN": (2, 20), "ENOUGH": 30}.items():
        monkeypatch.setattr(scale_plan, name, value)
    monkeypatch.setattr(scale_plan.streaming, "LEAST", 2000)  # so that logs are emptied
    try:
        days, models = scale_plan.grown(hinged.TextClassifier())
    except FileNotFoundError:
        needs.lacking("the data set enron_folders is not here")
    assert [round(day.messages) >= least for day, least in zip(days, (2, 20), strict=True)] == [True, True]
    assert 0 < days[0].size < days[1].size < 200_000
    assert all(day.seconds > 0 for day in days)
    assert sum(Lessons.from_bytes(data).n_rows for data in models) > 20
    assert scale_plan.restoring(hinged.TextClassifier(), models) > 0
