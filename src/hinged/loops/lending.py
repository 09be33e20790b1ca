"""Arrays lent to a loop without reference counts; their owners must outlive it.

Numba counts references wherever an array changes hands, also on its way into an inlined function, and each count makes
the processor finish all it has begun: on short rows, that takes as long as learning. A loop therefore lends itself all
arrays it was given, which its caller keeps, before the first round.
"""

from __future__ import annotations

from typing import Any

from hinged.loops.columns import Columns
from hinged.loops.compiling import inlined
from hinged.loops.costs import Costs
from hinged.loops.ledger import Book, Ledger, Told
from hinged.loops.pages import Store
from hinged.loops.round import Example, Memory, Problem, Work
from hinged.loops.rows import Rows, Scaling, Targets
from hinged.native import borrowed

__all__ = [
    "lend_book",
    "lend_example",
    "lend_memory",
    "lend_problem",
    "lend_rows",
    "lend_scaling",
    "lend_store",
    "lend_targets",
    "lend_work",
]


@inlined()
def lend_rows(rows: Any) -> Any:
    """The same rows."""
    return Rows(borrowed(rows.indptr), borrowed(rows.indices), borrowed(rows.data))


@inlined()
def lend_targets(targets: Any) -> Any:
    """The same targets."""
    return Targets(borrowed(targets.indptr), borrowed(targets.labels), borrowed(targets.weights))


@inlined()
def lend_problem(problem: Any) -> Any:
    """The same problem."""
    return Problem(problem.setting, Costs(borrowed(problem.costs.rho), problem.costs.predicted), problem.own)


@inlined()
def lend_book(book: Any) -> Any:
    """The same book."""
    ledger, told = book.ledger, book.told
    return Book(
        Ledger(borrowed(ledger.counts), borrowed(ledger.sums), borrowed(ledger.leads)),
        borrowed(book.notes),
        Told(borrowed(told.flags), borrowed(told.ranks), borrowed(told.losses)),
    )


@inlined()
def lend_scaling(scaling: Any) -> Any:
    """The same scaling."""
    df, logs = borrowed(scaling.df), borrowed(scaling.logs)
    return Scaling(scaling.idf, scaling.unit, scaling.bias, scaling.counts, df, logs)


@inlined()
def lend_store(store: Any) -> Any:
    """The same store."""
    return Store(
        borrowed(store.slots),
        borrowed(store.owners),
        borrowed(store.table),
        borrowed(store.address),
        borrowed(store.stride),
        borrowed(store.used),
        borrowed(store.like),
        store.depth,
    )


@inlined()
def lend_memory(memory: Any) -> Any:
    """The same memory; shared vectors, whose rounds are long, stay as they are."""
    columns = memory.columns
    columns = Columns(columns.kind, borrowed(columns.indptr), borrowed(columns.indices), columns.n, columns.separate)
    return Memory(columns, lend_scaling(memory.scaling), lend_store(memory.weights), memory.parts)


@inlined()
def lend_example(x: Any) -> Any:
    """The same room for a row."""
    return Example(
        borrowed(x.f),
        borrowed(x.v),
        borrowed(x.fs),
        borrowed(x.vs),
        borrowed(x.phi),
        borrowed(x.origin),
        borrowed(x.wide),
    )


@inlined()
def lend_work(work: Any) -> Any:
    """The same scratch arrays."""
    return Work(
        lend_example(work.x),
        borrowed(work.wide_g),
        borrowed(work.touched),
        borrowed(work.set_g),
        borrowed(work.set_sizes),
        borrowed(work.scores),
        borrowed(work.g),
        borrowed(work.shifted),
        borrowed(work.spare),
        borrowed(work.gaps),
        borrowed(work.norms),
        borrowed(work.is_relevant),
    )
