"""The sums of `lanes` as LLVM instructions on vectors of 16 values, which fill the registers that a processor has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils as untyped
from numba.extending import intrinsic

__all__ = ["dot", "everywhere", "moments", "part", "squared_distance"]

cgutils: Any = untyped
LANES = 16  # as in `lanes`
NUMBER = ir.IntType(32)

#: Makes the terms of some sums: of two values and further numbers, all of them scalars or all of them vectors.
Terms = Callable[..., Sequence[ir.Value]]


def everywhere(builder: ir.IRBuilder, vector: ir.VectorType, value: ir.Value) -> ir.Value:
    """Return a vector that holds one value in every place."""
    undefined = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(undefined, value, NUMBER(0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(NUMBER, vector.count), None))


def part(builder: ir.IRBuilder, vector: ir.Value, first: int, n: int) -> ir.Value:
    """Return `n` places of a vector, beginning with `first`."""
    places = ir.Constant(ir.VectorType(NUMBER, n), list(range(first, first + n)))
    return builder.shuffle_vector(vector, vector, places)


def _halved(builder: ir.IRBuilder, vector: ir.Value) -> ir.Value:
    half = LANES // 2
    while half:
        vector = builder.fadd(part(builder, vector, 0, half), part(builder, vector, half, half))
        half //= 2
    return builder.extract_element(vector, NUMBER(0))


def _sums(
    context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value], terms: Terms, n_sums: int = 1
) -> list[ir.Value]:
    """Sum terms of the arrays that are the first two arguments; the third is how many, the others are numbers."""
    a, b = (context.make_array(signature.args[i])(context, builder, args[i]).data for i in (0, 1))
    n, numbers, kind = args[2], args[3:], signature.args[0].dtype
    vector = ir.VectorType(context.get_value_type(kind), LANES)
    blocks = builder.sdiv(n, n.type(LANES))
    in_lanes = [everywhere(builder, vector, number) for number in numbers]

    def add(sums: Sequence[ir.Value], more: Sequence[ir.Value]) -> None:
        for total, term in zip(sums, more, strict=True):
            builder.store(builder.fadd(builder.load(total), term), total)

    lanes = [cgutils.alloca_once_value(builder, ir.Constant(vector, None)) for _ in range(n_sums)]
    with cgutils.for_range(builder, blocks, intp=n.type) as loop:
        at = builder.mul(loop.index, n.type(LANES))
        wide = (builder.bitcast(builder.gep(array, [at]), vector.as_pointer()) for array in (a, b))
        x, z = (builder.load(pointer, align=kind.bitwidth // 8) for pointer in wide)
        add(lanes, terms(builder, x, z, *in_lanes))
    totals = [cgutils.alloca_once_value(builder, _halved(builder, builder.load(each))) for each in lanes]
    done = builder.mul(blocks, n.type(LANES))
    with cgutils.for_range(builder, builder.sub(n, done), intp=n.type) as loop:
        at = builder.add(done, loop.index)
        add(totals, terms(builder, *(builder.load(builder.gep(array, [at])) for array in (a, b)), *numbers))
    return [builder.load(total) for total in totals]


@intrinsic
def dot(typing_context: Any, a: Any, b: Any, n: Any) -> Any:
    """Σ a_i b_i."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        return _sums(context, builder, signature, args, lambda builder, x, z: [builder.fmul(x, z)])[0]

    return a.dtype(a, b, types.int64), generate


@intrinsic
def squared_distance(typing_context: Any, a: Any, b: Any, n: Any) -> Any:
    """Σ (a_i - b_i)²."""

    def terms(builder: ir.IRBuilder, x: ir.Value, z: ir.Value) -> Sequence[ir.Value]:
        apart = builder.fsub(x, z)
        return [builder.fmul(apart, apart)]

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        return _sums(context, builder, signature, args, terms)[0]

    return a.dtype(a, b, types.int64), generate


@intrinsic
def moments(typing_context: Any, w: Any, v: Any, n: Any, lowest: Any, highest: Any) -> Any:
    """Σ w, Σ w (v - lowest), Σ w (highest - v), Σ w (v - lowest) (highest - v)."""

    def terms(
        builder: ir.IRBuilder, w: ir.Value, v: ir.Value, lowest: ir.Value, highest: ir.Value
    ) -> Sequence[ir.Value]:
        up, down = builder.fmul(w, builder.fsub(v, lowest)), builder.fsub(highest, v)
        return [w, up, builder.fmul(w, down), builder.fmul(up, down)]

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        sums = _sums(context, builder, signature, args, terms, n_sums=4)
        return context.make_tuple(builder, signature.return_type, sums)

    answer = types.UniTuple(types.float64, 4)  # type: ignore[no-untyped-call]
    return answer(w, v, types.int64, types.float64, types.float64), generate
