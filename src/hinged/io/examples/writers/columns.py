"""Writers for typed columns: Parquet and Arrow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO

from hinged.io.examples.chunk import Chunk
from hinged.io.examples.writers.pieces import features_of, texts_of

__all__ = ["arrow", "parquet"]


def parquet(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """Columns label, id, importance where there are weights, one per field, or features as (space, name, value)."""
    import pyarrow.parquet as pq

    writer: Any = None
    for batch in _batches(chunks):
        writer = writer or pq.ParquetWriter(file, batch.schema)
        writer.write_batch(batch)
    _finished(writer)


def arrow(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """The same columns as an Arrow stream."""
    import pyarrow as pa

    writer: Any = None
    for batch in _batches(chunks):
        writer = writer or pa.ipc.new_stream(file, batch.schema)
        writer.write_batch(batch)
    _finished(writer)


def _finished(writer: Any) -> None:
    if writer is None:
        raise ValueError("there are no examples, so there is nothing to say what the columns are; write jsonl instead.")
    writer.close()


def _batches(chunks: Iterable[Chunk]) -> Iterable[Any]:
    import pyarrow as pa

    feature = pa.struct([("space", pa.string()), ("name", pa.string()), ("value", pa.float64())])
    schema: Any = None
    for chunk in chunks:
        if schema is None:
            several = any(isinstance(answer, list) for answer in chunk.answers)
            fields: list[tuple[str, Any]] = [("label", pa.list_(pa.string()) if several else pa.string())]
            fields += [("importance", pa.float64())] if chunk.weights is not None else []
            fields += [("id", pa.string())]
            fields += [(name, pa.large_string()) for name in chunk.texts] or [("features", pa.list_(feature))]
            schema = pa.schema(fields)
        if late := [name for name in chunk.texts if name not in schema.names]:
            raise ValueError(f"the field {late[0]!r} comes first after others were written; name all with text=.")
        if chunk.weights is not None and "importance" not in schema.names:
            raise ValueError("importance weights come first after examples without were written; write jsonl instead.")
        columns: dict[str, Any] = {"label": [_label(answer, schema.field("label").type) for answer in chunk.answers]}
        columns["importance"] = None if chunk.weights is None else chunk.weights.tolist()
        columns["id"] = chunk.tags
        columns |= {name: texts_of(strings) for name, strings in chunk.texts.items()}
        if not chunk.texts:
            columns["features"] = [
                [{"space": space, "name": name, "value": float(value)} for space, name, value in row]
                for row in features_of(chunk)
            ]
        arrays = [pa.array(columns.get(f.name) or [None] * len(chunk), f.type) for f in schema]
        yield pa.record_batch(arrays, schema=schema)


def _label(answer: Any, kind: Any) -> Any:
    if isinstance(answer, list) == str(kind).startswith("list") or answer is None:
        return answer
    if isinstance(answer, list):
        raise ValueError(f"{answer!r} is a set of labels, after examples with one each; write jsonl instead.")
    return [answer]
