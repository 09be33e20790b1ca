"""Parquet and Arrow files, read and written with pyarrow: typed columns, a batch of records at a time.

Texts stay in Arrow's own memory. Malformed: a feature or weight that is not a finite number; a label that is neither
string, number nor a list of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from hinged.io.examples.chunk import LARGEST_VALUE, Answer, BadLine, Chunk, Named, Parts, Places, Strings
from hinged.io.examples.columns import SAMPLE, Options, Roles, kind_of_strings
from hinged.io.examples.labels import label_of
from hinged.io.examples.source import ByteStream
from hinged.io.examples.write import Feature, columns_of, features_of, refuse_own_names

__all__ = ["BatchReader", "arrow_chunks", "parquet_chunks", "write_arrow", "write_parquet"]

BatchWriter: TypeAlias = pq.ParquetWriter | pa.RecordBatchStreamWriter
ROWS = 8192  # at most in a batch of Parquet
FEATURE = pa.struct([("space", pa.string()), ("name", pa.string()), ("value", pa.float64())])


# ------------------------------------------------------------------ reading
def parquet_chunks(stream: ByteStream, options: Options) -> Parts:
    """Yield the examples of a Parquet file, and its malformed records."""
    return _chunks(stream, options, _parquet_batches(stream))


def arrow_chunks(stream: ByteStream, options: Options) -> Parts:
    """Yield the examples of an Arrow file or stream (IPC, Feather), and its malformed records."""
    return _chunks(stream, options, _arrow_batches(stream))


def _parquet_batches(stream: ByteStream) -> Iterator[pa.RecordBatch]:
    with stream.as_file() as file, pq.ParquetFile(file) as parquet:
        for group in range(parquet.num_row_groups):
            yield from parquet.iter_batches(ROWS, row_groups=[group])


def _arrow_batches(stream: ByteStream) -> Iterator[pa.RecordBatch]:
    if stream.peek().startswith(b"ARROW1"):
        with stream.as_file() as file, pa.ipc.open_file(file) as reader:
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)
    else:
        with pa.ipc.open_stream(stream.as_raw()) as reader:
            yield from reader


def _chunks(stream: ByteStream, options: Options, batches: Iterator[pa.RecordBatch]) -> Parts:
    records, reader = 0, BatchReader(stream.name, options)
    while True:
        try:
            batch = next(batches, None)
            if batch is None:
                return
            batch.validate(full=True)
            len(batch.schema.names)  # raises where a name is not UTF-8
        except (pa.ArrowException, ValueError, OSError, NotImplementedError, MemoryError, OverflowError) as problem:
            found = f"the file is damaged or cut short here ({' '.join(str(problem).split())[:200]})"
            raise BadLine(stream.name, records + 1, found, "sound data") from None
        if len(batch):
            yield reader.chunk(batch, np.arange(records + 1, records + 1 + len(batch)))
        records += len(batch)


class BatchReader:
    """Turns batches into chunks; the schema and the first record decide the role of each column."""

    def __init__(self, source: str, options: Options) -> None:
        self.source, self.options = source, options
        self.roles: Roles | None = None
        self.features: str | None = None  # a column that holds all features of a row

    def chunk(self, batch: pa.RecordBatch, lines: Places) -> tuple[Chunk, list[BadLine]]:
        """Return a batch as a chunk, and its malformed records; `lines` are the numbers of its records."""
        roles = self.roles = self.roles or self._decide(batch)
        answers, bad = self._answers(batch, lines, roles.label)
        bad += self._not_finite(batch, lines, roles)
        chunk = Chunk(
            answers=answers,
            lines=lines,
            source=self.source,
            weights=_numbers(batch.column(roles.weight), 1.0) if roles.weight else None,
            tags=_tags(batch.column(roles.tag)) if roles.tag else None,
            layout=roles.layout,
            **self._rows(batch, roles),
        )
        if bad:
            chunk = chunk.taken(np.flatnonzero(~np.isin(lines, [fault.line for fault in bad])))
        return chunk, list({fault.line: fault for fault in bad}.values())

    def _rows(self, batch: pa.RecordBatch, roles: Roles) -> dict[str, Any]:
        """Return the fields of a chunk that hold its rows: features, or columns of strings and numbers."""
        if self.features:
            return {"named": _features(batch.column(self.features))}
        texts = {name: _strings(batch.column(name)) for name in roles.texts}
        numbers = {name: _numbers(batch.column(name), np.nan) for name in roles.numbers}
        return {"texts": Strings.of_table(texts, bool(numbers), len(batch)), "numbers": numbers}

    def _answers(self, batch: pa.RecordBatch, lines: Places, label: str | None) -> tuple[list[Answer], list[BadLine]]:
        answers: list[Answer] = []
        bad = []
        for value, line in zip(batch.column(label).to_pylist() if label else [None] * len(batch), lines, strict=True):
            try:
                answers.append(label_of(value))
            except ValueError as problem:
                answers.append(None)
                bad.append(BadLine(self.source, int(line), str(problem), "a string, a number, or a list of them"))
        return answers, bad

    def _decide(self, batch: pa.RecordBatch) -> Roles:
        names = batch.schema.names
        if len(set(names)) < len(names):
            problem = f"two columns have one name ({', '.join(names)})"
            raise BadLine(self.source, 1, problem, "a name of its own for each")
        types = dict(zip(names, batch.schema.types, strict=True))
        roles = Roles({name: _kind_of(name, batch.column(name)) for name in names}, self.options, self.source)
        if _is_features(types.get("features")) and not self.options.text:
            self.features = "features"
        for name in roles.texts:
            self._check_type(name, types[name], "text", _is_string(types[name]))
        for name in roles.numbers:
            self._check_type(name, types[name], "numbers", _is_number(types[name]))
        return roles

    def _check_type(self, name: str, kind: pa.DataType, wanted: str, sound: bool) -> None:
        if not sound and not pa.types.is_null(kind):
            column = "strings" if wanted == "text" else wanted
            raise BadLine(self.source, 1, f"column {name!r} holds {kind}, not {wanted}", f"a column of {column}")

    def _not_finite(self, batch: pa.RecordBatch, lines: Places, roles: Roles) -> Iterator[BadLine]:
        for what, name, wrong in self._faults(batch, roles):
            problem = f"the {what} in column {name!r} is not a finite number"
            yield from (BadLine(self.source, int(line), problem, "one") for line in lines[wrong])

    def _faults(self, batch: pa.RecordBatch, roles: Roles) -> Iterator[tuple[str, str, npt.NDArray[np.bool_]]]:
        """Yield what must be a finite number, in which column, and the records where it is not."""
        if roles.weight:
            weights = _numbers(batch.column(roles.weight), 1.0)
            yield "weight", roles.weight, ~(np.isfinite(weights) & (weights >= 0))
        if self.features:
            named = _features(batch.column(self.features))
            rows = np.searchsorted(named.indptr, np.flatnonzero(~np.isfinite(named.values)), "right") - 1
            yield "value", self.features, np.isin(np.arange(len(batch)), rows)
            return
        for name in roles.numbers:
            yield "value", name, ~(np.abs(_numbers(batch.column(name), 0.0)) <= LARGEST_VALUE)


# ------------------------------------------------------------------ columns
def _kind_of(name: str, column: pa.Array) -> str:
    """Return what `Roles` calls a column, by its type and its first records."""
    if _is_number(column.type):
        return "number"
    if pa.types.is_null(column.type):
        return "empty"
    return kind_of_strings(name, column.slice(0, SAMPLE).to_pylist()) if _is_string(column.type) else "other"


def _is_string(kind: pa.DataType) -> bool:
    """Return True if a type holds strings, also behind a dictionary."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _is_number(kind: pa.DataType) -> bool:
    """Return True if a type holds numbers, or true and false."""
    t = pa.types
    return t.is_integer(kind) or t.is_floating(kind) or t.is_boolean(kind) or t.is_decimal(kind)


def _is_features(kind: pa.DataType | None) -> bool:
    """Return True if a type holds named features: a map name → number, or a list of (space, name, value)."""
    if isinstance(kind, pa.MapType):
        return _is_string(kind.key_type) and _is_number(kind.item_type)
    inner = kind.value_type if isinstance(kind, pa.ListType | pa.LargeListType) else None
    return isinstance(inner, pa.StructType) and [field.name for field in inner] == ["space", "name", "value"]


def _strings(column: pa.Array) -> Strings:
    """Return texts without copying them; a missing one is empty."""
    column = column.cast(pa.large_string())
    column = column.fill_null("") if column.null_count else column
    _, offsets, data = column.buffers()
    if len(column) == 0 or offsets is None:
        return Strings.joined([], len(column))
    places = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1].copy()
    return Strings(np.frombuffer(data or b"", np.uint8), places[:-1], places[1:])


def _tags(column: pa.Array) -> list[str]:
    return ["" if tag is None else str(tag) for tag in column.to_pylist()]


def _numbers(column: pa.Array, missing: float) -> npt.NDArray[np.float64]:
    return column.cast(pa.float64(), safe=False).fill_null(missing).to_numpy(zero_copy_only=False)


def _features(column: pa.Array) -> Named:
    """Return the rows of a column of features; names are copied once, so that all are in one buffer."""
    there = column.is_valid().to_numpy(zero_copy_only=False)
    offsets = column.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    lengths = np.diff(offsets) * there
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    chosen = pa.array(np.repeat(offsets[:-1] - indptr[:-1], lengths) + np.arange(indptr[-1]))
    inner = [column.keys, column.items] if pa.types.is_map(column.type) else column.values.flatten()
    inner = [child.take(chosen) for child in inner]
    names = _strings(inner[-2])
    placed = np.stack([names.starts, names.ends])
    buffer, spaces = names.buffer.copy(), np.zeros_like(placed)
    if len(inner) == 3:
        own = _strings(inner[0])
        buffer, spaces = np.concatenate([buffer, own.buffer]), np.stack([own.starts, own.ends]) + len(buffer)
    with np.errstate(over="ignore"):  # the caller refuses inf
        values = _numbers(inner[-1], 0.0).astype(np.float32)
    return Named(indptr, buffer, spaces, placed, values)


# ------------------------------------------------------------------ writing
def write_parquet(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """Write columns label, importance where there are weights, id, one per field, or features (space, name, value)."""
    _write(chunks, "parquet", lambda schema: pq.ParquetWriter(file, schema))


def write_arrow(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """Write the same columns as an Arrow stream."""
    _write(chunks, "arrow", lambda schema: pa.ipc.new_stream(file, schema))


def _write(chunks: Iterable[Chunk], format: str, new: Callable[[pa.Schema], BatchWriter]) -> None:
    writer: BatchWriter | None = None
    for batch in _batches(chunks, format):
        writer = writer or new(batch.schema)
        writer.write_batch(batch)
    if writer is None:
        raise ValueError("there are no examples, so there is nothing to say what the columns are; write jsonl instead.")
    writer.close()


def _batches(chunks: Iterable[Chunk], format: str) -> Iterator[pa.RecordBatch]:
    schema: pa.Schema | None = None
    for chunk in chunks:
        refuse_own_names(chunk, format)
        schema = schema or _schema(chunk)
        _refuse_late(chunk, schema.names)
        columns = columns_of(chunk, [_label(answer, schema.field("label").type) for answer in chunk.answers])
        if "features" in schema.names and not chunk.texts:
            columns["features"] = list(map(_with_numbers, features_of(chunk)))
        arrays = [pa.array(columns.get(f.name) or [None] * len(chunk), f.type) for f in schema]
        yield pa.record_batch(arrays, schema=schema)


def _with_numbers(features: list[Feature]) -> list[tuple[str, str, float]]:
    return [(space, name, float(value)) for space, name, value in features]


def _refuse_late(chunk: Chunk, known: list[str]) -> None:
    if late := [name for name in (*chunk.numbers, *chunk.texts) if name not in known]:
        raise ValueError(
            f"the column {late[0]!r} comes first after others were written; name all with text= and numbers=."
        )
    if chunk.weights is not None and "importance" not in known:
        raise ValueError("importance weights come first after examples without were written; write jsonl instead.")


def _schema(chunk: Chunk) -> pa.Schema:
    fields: list[tuple[str, pa.DataType]] = [("label", pa.list_(pa.string()) if chunk.has_sets else pa.string())]
    fields += [("importance", pa.float64())] if chunk.weights is not None else []
    fields += [("id", pa.string())]
    columns = [(name, pa.float64()) for name in chunk.numbers] + [(name, pa.large_string()) for name in chunk.texts]
    fields += columns or [("features", pa.list_(FEATURE))]
    return pa.schema(fields)


def _label(answer: Answer, kind: pa.DataType) -> Answer:
    if isinstance(answer, list) == pa.types.is_list(kind) or answer is None:
        return answer
    if isinstance(answer, list):
        raise ValueError(f"{answer!r} is a set of labels, after examples with one each; write jsonl instead.")
    return [answer]
