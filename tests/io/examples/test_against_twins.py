"""Readers beside their plain twins: the same rows, the same malformed lines, wherever chunks are cut."""

import io
import random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.reference import examples as twins

from hinged.io.examples import BadLine, read

#: What lines are made of: enough of each format's own marks to be right half of the time.
PIECES = {
    "vw": b"1|2|-1.5|spam|1,3|0.5| |  |\t|\r|'|'tag|\xff|\xc3\xa9|a|b:|:|a:1|b:0.25|c:1e3|d:.5|e:x|:2|1e39|nan|inf|-0",
    "svmlight": b"1|+1|-1|1,3|spam| |  |\t|\r|#| # c|qid:3|1:1|2:0.5|3:1e-3|7:2|7:x|:|2147483646:1|\xff|a:1|1.0"
    b"|2147483647:1",
    "lines": b"a|b|spam|text|more words| |  |\t|\t\t|\r|\xc3\xa9|\xff|\x00|:|,",
}
OTHERWISE = (
    b"\x1f\x8b\x08",
    b"\x28\xb5\x2f\xfd",
    b"\xff\xfe",
    b"\xfe\xff",
    *(bytes([i]) + b"*M\x18" for i in range(80, 96)),
)
BARS = {"vw": [b"|", b"|f", b" |", b" |f ", b"|g:2 ", b"|g:x ", b"|:3"]}


def pieces(format):
    return [*PIECES[format].split(b"|"), *BARS.get(format, [])]


def some_file(format, seed):
    rng = random.Random(seed)
    lines = [b"".join(rng.choices(pieces(format), k=rng.randrange(9))) for _ in range(rng.randrange(8))]
    return b"\n".join(lines) + rng.choice([b"", b"\n"])


def close(one, other):
    """Rows alike, numbers up to rounding in the last place."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or abs(one - other) <= 2e-7 * abs(other)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        return all(map(close, one, other))
    return one == other


def check(format, data, chunk_bytes):
    expected, bad = twins.by_line(data, getattr(twins, format))
    reader = read(io.BytesIO(data), format, on_error="skip", chunk_bytes=chunk_bytes)
    rows, skipped = twins.rows_of(reader)
    assert close(rows, expected), (data, rows, expected)
    assert skipped == reader.skipped == len(bad)
    assert [fault.line for fault in reader.problems] == bad[:10]
    assert reader.rows == len(rows)


@pytest.mark.parametrize("format", PIECES)
def test_rows_and_malformed_lines_are_those_of_the_twin(format):
    for seed in range(400):
        check(format, some_file(format, seed), chunk_bytes=random.Random(seed).choice([1, 3, 17, 1 << 20]))


@pytest.mark.parametrize("format", PIECES)
@given(data=st.binary(max_size=80), chunk_bytes=st.integers(1, 100))
def test_any_bytes_are_rows_or_malformed_lines(format, data, chunk_bytes):
    assume(not data.startswith(OTHERWISE))
    check(format, data, chunk_bytes)


CELLS = [
    b"a",
    b"b c",
    b"1",
    b",",
    b",",
    b'"',
    b'""',
    b'"x"',
    b'"y,z"',
    b'"q\n"',
    b"\n",
    b"\n",
    b"\r\n",
    b" ",
    b"\xff",
    b"\xc3\xa9",
]


def table(data, quote='"', **options):
    """The cells of a file by our reader: every column is asked for as text, so nothing is guessed."""
    return read(io.BytesIO(b"c0,c1,c2\n" + data), "csv", text="c0,c1,c2", quote=quote, on_error="skip", **options)


def check_table(data, chunk_bytes, quote=b'"'):
    (_, *records), bad = twins.csv(b"c0,c1,c2\n" + data, quote=quote)
    reader = table(data, quote.decode(), chunk_bytes=chunk_bytes)
    rows, skipped = twins.rows_of(reader)
    assert [(line, content) for line, _, _, _, content in rows] == [
        (line, {f"c{i}": cell.decode() for i, cell in enumerate(cells) if cell}) for line, cells in records
    ]
    assert skipped == len(bad)


def test_cells_are_those_of_the_twin():
    for seed in range(600):
        rng = random.Random(seed)
        data = b"".join(rng.choices(CELLS, k=rng.randrange(30)))
        check_table(data, rng.choice([1, 5, 1 << 20]), rng.choice([b'"', b'"', b""]))


@given(data=st.binary(max_size=60), chunk_bytes=st.integers(1, 80))
def test_any_bytes_are_records_or_malformed(data, chunk_bytes):
    check_table(data, chunk_bytes)


def test_numbers_are_read_as_python_reads_them():
    rng = random.Random(3)
    spelt = [repr(rng.gauss(0, 1) * 10.0 ** rng.randint(-200, 200)) for _ in range(3000)]
    spelt += [f"{rng.randrange(10 ** rng.randint(1, 18))}e{rng.randint(-30, 30)}" for _ in range(3000)]
    spelt += ["0", "-0", "1.", ".5", "+.5e-3", "00012.500", "1E5", "9007199254740993", "0." + "0" * 30 + "1"]
    rows, _ = twins.rows_of(read(io.BytesIO("\n".join(f"1 1:{number}" for number in spelt).encode()), "svmlight"))
    assert [row[4][0][1] for row in rows] == [float(number) for number in spelt]


def test_numbers_with_very_many_digits_are_right_to_the_last_place():
    rng = random.Random(4)
    spelt = ["".join(rng.choices("0123456789", k=rng.randint(20, 60))) + f"e-{rng.randint(0, 70)}" for _ in range(500)]
    rows, _ = twins.rows_of(read(io.BytesIO("\n".join(f"1 1:{number}" for number in spelt).encode()), "svmlight"))
    np.testing.assert_allclose([row[4][0][1] for row in rows], [float(number) for number in spelt], rtol=3e-16)


@pytest.mark.parametrize(
    "odd", ["", "x", "1e", "1e+", "--1", "1_000", "0x10", "1.2.3", "nan", "inf", "-inf", "1e400", "."]
)
def test_what_is_no_finite_number_is_refused(odd):
    for line in (f"1 |f a:{odd}", f"1 |f a:{odd} b", f"1 |f:{odd} a"):
        with pytest.raises(BadLine, match=r"<file>:1: .* not a finite number"):
            list(read(io.BytesIO(line.encode()), "vw"))
    with pytest.raises(BadLine, match=r"<file>:1: .* not a finite number"):
        list(read(io.BytesIO(f"1 1:{odd}".encode()), "svmlight"))
