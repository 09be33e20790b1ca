"""Lines that are not UTF-8 beside what Python says of them."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from hinged.io.examples.scan import utf8_faults

#: Sound characters of each length, and what looks like one: cut short, overlong, a surrogate, too high, no beginning.
GOOD = (b"a", b"\xc3\xa9", b"\xe2\x82\xac", b"\xf0\x9f\x98\x80", b"x" * 70, b"\n", b"\xdf\xbf", b"\xf4\x8f\xbf\xbf")
BAD = (
    b"\xff",
    b"\x80",
    b"\xe2\x82",
    b"\xf0\x9f",
    b"\xc0\x80",
    b"\xe0\x9f\xbf",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xc3",
)


def by_python(data):
    faults, at = [], 0
    while at < len(data):
        try:
            data[at:].decode("utf-8")
        except UnicodeDecodeError as problem:
            bad = at + problem.start
            end = data.index(b"\n", bad)
            faults.append((data.rfind(b"\n", 0, bad) + 1, end, bad))
            at = end + 1
        else:
            break
    return faults


@example(data=b"\xff")
@example(data=b"x" * 63 + b"\xe2\x82\xac" + b"y" * 63 + b"\xff")
@given(data=st.one_of(st.binary(), st.lists(st.sampled_from(GOOD + BAD), max_size=40).map(b"".join)))
def test_faults_are_those_that_python_finds(data):
    data += b"\n"
    assert utf8_faults(np.frombuffer(bytearray(data), np.uint8)) == by_python(data)


def test_each_kind_of_fault_is_found_and_nothing_else():
    for piece in (*GOOD, *BAD):
        for before in (b"", *(b"x" * n for n in range(54, 70))):
            data = b"first\n" + before + piece + b"y\n"
            assert utf8_faults(np.frombuffer(bytearray(data), np.uint8)) == by_python(data), piece
