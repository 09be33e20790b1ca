"""Parquet and Arrow files: typed columns, a batch of records at a time; texts stay where Arrow has them.

Malformed: a feature or weight that is no finite number; a label that is neither string, number nor a list of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hinged.io.examples.chunk import Chunk, Strings
from hinged.io.examples.columns import Roles, is_text
from hinged.io.examples.errors import BadLine
from hinged.io.examples.labels import label_of
from hinged.io.examples.options import Options
from hinged.io.examples.source import Stream

__all__ = ["arrow_chunks", "chunks"]

ROWS = 8192  # at most in a batch of Parquet
LARGEST = float(np.finfo(np.float32).max)


def chunks(stream: Stream, options: Options) -> Iterator[tuple[Chunk, list[BadLine]]]:
    """The examples of a Parquet file, and the records that are none."""
    return _chunks(stream, options, _parquet_batches)


def arrow_chunks(stream: Stream, options: Options) -> Iterator[tuple[Chunk, list[BadLine]]]:
    """The examples of an Arrow file or stream (IPC, Feather), and the records that are none."""
    return _chunks(stream, options, _arrow_batches)


def _chunks(stream: Stream, options: Options, batches: Any) -> Iterator[tuple[Chunk, list[BadLine]]]:
    try:
        import pyarrow as pa
    except ImportError:
        raise ImportError(
            f'{stream.name} is read with pyarrow, which is not installed; try: pip install "hinged[parquet]"'
        ) from None
    records, reader = 0, _Records(stream.name, options)
    source = batches(stream)
    while True:
        try:
            batch = next(source, None)
            if batch is None:
                return
            batch.validate(full=True)
            len(batch.schema.names)  # names that are not UTF-8 show here
        except (pa.ArrowException, ValueError, OSError, NotImplementedError, MemoryError, OverflowError) as problem:
            what = " ".join(str(problem).split())[:200]
            raise BadLine(
                stream.name, records + 1, f"the file is damaged or cut short here ({what})", "sound data"
            ) from None
        if len(batch):
            yield reader.chunk(batch, records)
        records += len(batch)


def _parquet_batches(stream: Stream) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with stream.as_file() as file, pq.ParquetFile(file) as parquet:
        for group in range(parquet.num_row_groups):
            yield from parquet.iter_batches(ROWS, row_groups=[group])


def _arrow_batches(stream: Stream) -> Iterator[Any]:
    import pyarrow as pa

    if stream.peek().startswith(b"ARROW1"):
        with stream.as_file() as file, pa.ipc.open_file(file) as reader:
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)
    else:
        with pa.ipc.open_stream(stream.as_raw()) as reader:
            yield from reader


class _Records:
    """Batches on their way into chunks; the schema and the first record decide what each column is."""

    def __init__(self, source: str, options: Options) -> None:
        self.source, self.options = source, options
        self.roles: Roles | None = None
        self.features: str | None = None  # a column that holds all features of a row

    def chunk(self, batch: Any, before: int) -> tuple[Chunk, list[BadLine]]:
        """A batch as a chunk, and its malformed records; `before` records came before it."""
        import pyarrow as pa

        roles = self.roles = self.roles or self._decide(batch)
        lines = np.arange(before + 1, before + 1 + len(batch))
        answers, bad = self._answers(batch, lines, roles.label)
        for what, name, wrong in self._faults(batch, roles):
            for r in np.flatnonzero(wrong).tolist():
                bad.append(
                    BadLine(self.source, int(lines[r]), f"the {what} in column {name!r} is no finite number", "one")
                )
        if bad:
            keep = ~np.isin(lines, [fault.line for fault in bad])
            bad = list({fault.line: fault for fault in bad}.values())
            batch, lines = batch.filter(pa.array(keep)), lines[keep]
            answers = [answer for answer, kept in zip(answers, keep.tolist(), strict=True) if kept]
        return self._built(batch, answers, lines, roles), bad

    def _answers(self, batch: Any, lines: np.ndarray, label: str | None) -> tuple[list[Any], list[BadLine]]:
        answers, bad = [], []
        for value, line in zip(batch.column(label).to_pylist() if label else [None] * len(batch), lines, strict=True):
            try:
                answers.append(label_of(value))
            except ValueError as problem:
                answers.append(None)
                bad.append(BadLine(self.source, int(line), str(problem), "a string, a number, or a list of them"))
        return answers, bad

    def _decide(self, batch: Any) -> Roles:
        from hinged.io.examples.arrow import is_features, is_number, is_string

        names = batch.schema.names
        if len(set(names)) < len(names):
            raise BadLine(
                self.source, 1, f"two columns have one name ({', '.join(names)})", "a name of its own for each"
            )
        kinds = {}
        for field in batch.schema:
            kinds[field.name] = "other"
            if is_number(field.type):
                kinds[field.name] = "number"
            elif is_string(field.type):
                first = batch.column(field.name)[0].as_py() or ""
                kinds[field.name] = "text" if is_text(field.name, first) else "word"
            elif field.name == "features" and is_features(field.type) and not self.options.text:
                self.features = field.name
        roles = Roles(kinds, self.options, self.source)
        for name in roles.texts:
            if kinds[name] not in ("text", "word"):
                kind = batch.schema.field(name).type
                raise BadLine(self.source, 1, f"column {name!r} holds {kind}, not text", "a column of strings")
        return roles

    def _faults(self, batch: Any, roles: Roles) -> Iterator[tuple[str, str, np.ndarray]]:
        """What must be a finite number, in which column, and which records have none."""
        from hinged.io.examples.arrow import features_column, numbers_of

        if roles.weight:
            weights = numbers_of(batch.column(roles.weight), 1.0)
            yield "weight", roles.weight, ~(np.isfinite(weights) & (weights >= 0))
        if self.features:
            named = features_column(batch.column(self.features))
            wrong = np.flatnonzero(~np.isfinite(named.values))
            yield (
                "value",
                self.features,
                np.isin(np.arange(len(batch)), np.searchsorted(named.indptr, wrong, "right") - 1),
            )
            return
        for name in roles.numbers:
            yield "value", name, ~(np.abs(numbers_of(batch.column(name), 0.0)) <= LARGEST)

    def _built(self, batch: Any, answers: list[Any], lines: np.ndarray, roles: Roles) -> Chunk:
        from hinged.io.examples.arrow import features_column, named_columns, numbers_of, strings_column

        texts, named = {}, None
        if self.features:
            named = features_column(batch.column(self.features))
        elif roles.numbers:
            named = named_columns(batch, roles.numbers, roles.words)
        else:
            none = np.zeros(len(batch), np.int64)
            texts = {name: strings_column(batch.column(name)) for name in roles.texts}
            texts = texts or {"text": Strings(np.zeros(0, np.uint8), none, none)}
        return Chunk(
            answers=answers,
            lines=lines,
            source=self.source,
            weights=numbers_of(batch.column(roles.weight), 1.0) if roles.weight else None,
            tags=["" if tag is None else str(tag) for tag in batch.column(roles.tag).to_pylist()]
            if roles.tag
            else None,
            texts=texts,
            named=named,
            layout=roles.layout,
        )
