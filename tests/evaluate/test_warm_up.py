"""Warming up reaches every parser."""

from hinged.evaluate.warm_up import FILES, warm_up
from hinged.io.examples import FORMATS


def test_every_format_that_is_parsed_here_is_warmed_up():
    told = []
    warm_up(progress=lambda name, done, total: told.append((name, done, total)))
    assert [name for name, *_ in told] == list(FILES)
    assert {name.split()[0] for name in FILES} == {*FORMATS} - {"parquet", "arrow", "folders"}
