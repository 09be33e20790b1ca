"""LLVM instructions that Numba code does not compile to: rows kept in vector registers, masks of bytes, prefetches.

Each function has a twin in `plain`, whose docstring says what it does; both give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from inspect import signature as signature_of
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils as untyped
from numba.extending import intrinsic

from hinged.compiling.lane_code import everywhere, part

__all__ = [
    "add_rows",
    "best_of",
    "copy_block",
    "count_bits",
    "eight_bytes",
    "equal_bytes",
    "fetch",
    "lowest_bit",
    "sum_rows",
    "wide_bytes",
    "word_bytes",
]

cgutils: Any = untyped
WIDTHS = (8, 16, 32, 64)  # numbers of columns that a row may have
LINE = 64  # bytes in a cache line
NUMBER, WHOLE = ir.IntType(32), ir.IntType(64)
BLOCK = ir.VectorType(ir.IntType(8), 64)


def _data(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value], i: int) -> ir.Value:
    """Return the pointer to the values of array argument `i`."""
    return context.make_array(signature.args[i])(context, builder, args[i]).data


@intrinsic
def sum_rows(typing_context: Any, at: Any, v: Any, n: Any, columns: Any, s: Any) -> Any:
    """Keep all sums in vector registers: a loop over arrays would store them after each row, and wait for them."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        at, v, s = (_data(context, builder, signature, args, i) for i in (0, 1, 4))
        size = signature.args[4].dtype.bitwidth // 8
        for width in WIDTHS:
            with builder.if_then(builder.icmp_signed("==", args[3], WHOLE(width))):
                vector = ir.VectorType(s.type.pointee, width)
                total = cgutils.alloca_once_value(builder, ir.Constant(vector, None))  # type: ignore[no-untyped-call]
                with cgutils.for_range(builder, args[2], intp=WHOLE) as loop:
                    row = builder.inttoptr(builder.load(builder.gep(at, [loop.index])), vector.as_pointer())
                    value = everywhere(builder, vector, builder.load(builder.gep(v, [loop.index])))
                    product = builder.fmul(value, builder.load(row, align=size))
                    builder.store(builder.fadd(builder.load(total), product), total)
                builder.store(builder.load(total), builder.bitcast(s, vector.as_pointer()), align=size)
        return context.get_dummy_value()

    return types.void(at, v, types.int64, types.int64, s), generate


@intrinsic
def add_rows(typing_context: Any, at: Any, v: Any, n: Any, columns: Any, g: Any, ahead: Any) -> Any:
    """Keep `g` in vector registers: a loop over arrays would load it for each row, and look whether the row is `g`."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        at, v, g, ahead = (_data(context, builder, signature, args, i) for i in (0, 1, 4, 5))
        size = signature.args[4].dtype.bitwidth // 8
        for width in WIDTHS:
            with builder.if_then(builder.icmp_signed("==", args[3], WHOLE(width))):
                vector = ir.VectorType(g.type.pointee, width)
                by = builder.load(builder.bitcast(g, vector.as_pointer()), align=size)
                with cgutils.for_range(builder, args[2], intp=WHOLE) as loop:
                    row = builder.inttoptr(builder.load(builder.gep(at, [loop.index])), vector.as_pointer())
                    value = everywhere(builder, vector, builder.load(builder.gep(v, [loop.index])))
                    move = builder.fmul(value, by)
                    builder.store(builder.fadd(builder.load(row, align=size), move), row, align=size)
                    next_row = builder.load(builder.gep(ahead, [loop.index]))
                    for line in range(0, width * size, LINE):
                        _prefetch(builder, builder.add(next_row, WHOLE(line)))
        return context.get_dummy_value()

    return types.void(at, v, types.int64, types.int64, g, ahead), generate


@intrinsic
def best_of(typing_context: Any, s: Any, columns: Any, among: Any) -> Any:
    """Halve a vector of scores until the largest is left, without the wrong guesses of a loop that jumps."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        s, size = _data(context, builder, signature, args, 0), signature.args[0].dtype.bitwidth // 8
        best = cgutils.alloca_once(builder, s.type.pointee)  # type: ignore[no-untyped-call]
        where = cgutils.alloca_once(builder, WHOLE)  # type: ignore[no-untyped-call]
        for width in WIDTHS:
            with builder.if_then(builder.icmp_signed("==", args[1], WHOLE(width))):
                vector = ir.VectorType(s.type.pointee, width)
                scores = builder.load(builder.bitcast(s, vector.as_pointer()), align=size)
                bits = args[2] if width == 64 else builder.trunc(args[2], ir.IntType(width))
                counts = builder.bitcast(bits, ir.VectorType(ir.IntType(1), width))
                counts = builder.and_(counts, builder.fcmp_ordered("ord", scores, scores))
                lowest = everywhere(builder, vector, ir.Constant(vector.element, -math.inf))
                scores = top = builder.select(counts, scores, lowest)
                for half in [w for w in (32, 16, 8, 4, 2, 1) if w < width]:
                    low, high = (part(builder, top, first, half) for first in (0, half))
                    top = builder.select(builder.fcmp_ordered(">", low, high), low, high)
                highest = builder.extract_element(top, NUMBER(0))
                equal = builder.fcmp_ordered("==", scores, everywhere(builder, vector, highest))
                bits = builder.bitcast(builder.and_(counts, equal), ir.IntType(width))
                bits = bits if width == 64 else builder.zext(bits, WHOLE)
                builder.store(highest, best)
                builder.store(builder.cttz(bits, ir.IntType(1)(0)), where)
        return context.make_tuple(builder, signature.return_type, [builder.load(best), builder.load(where)])

    answer = types.Tuple((s.dtype, types.int64))  # type: ignore[no-untyped-call]
    return answer(s, types.int64, types.uint64), generate


def _instruction(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator: make an intrinsic with this signature of a function that emits the code."""

    def decorate(emit: Callable[..., Any]) -> Any:
        def define(typing_context: Any, *kinds: Any) -> Any:
            def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
                value = emit(builder, *args)
                return context.get_dummy_value() if value is None else value

            return signature, generate

        define.__name__, define.__doc__ = emit.__name__, emit.__doc__
        define.__signature__ = signature_of(emit)  # type: ignore[attr-defined]
        return intrinsic(define)

    return decorate


def _load(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    return builder.load(builder.inttoptr(address, BLOCK.as_pointer()), align=1)


def _all(byte: int) -> ir.Constant:
    return ir.Constant(BLOCK, [byte] * BLOCK.count)


def _between(builder: ir.IRBuilder, block: ir.Value, first: str, last: str) -> ir.Value:
    shifted = builder.sub(block, _all(ord(first)))
    return builder.icmp_unsigned("<=", shifted, _all(ord(last) - ord(first)))


@_instruction(types.uint64(types.int64, types.uint8))
def equal_bytes(builder: ir.IRBuilder, address: ir.Value, byte: ir.Value) -> ir.Value:
    """Compare 64 bytes at once."""
    wanted = everywhere(builder, BLOCK, byte)
    return builder.bitcast(builder.icmp_unsigned("==", _load(builder, address), wanted), WHOLE)


@_instruction(types.uint64(types.int64))
def wide_bytes(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """Take the highest bits of 64 bytes at once."""
    return builder.bitcast(builder.icmp_signed("<", _load(builder, address), _all(0)), WHOLE)


@_instruction(types.uint64(types.int64))
def word_bytes(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """Classify 64 bytes at once."""
    block = _load(builder, address)
    letter = _between(builder, builder.or_(block, _all(0x20)), "a", "z")
    other = builder.or_(_between(builder, block, "0", "9"), builder.icmp_unsigned("==", block, _all(ord("_"))))
    return builder.bitcast(builder.or_(letter, other), WHOLE)


@_instruction(types.none(types.int64, types.int64, types.boolean))
def copy_block(builder: ir.IRBuilder, address: ir.Value, to: ir.Value, lower: ir.Value) -> None:
    """Load, change and store 64 bytes at once."""
    block = _load(builder, address)
    small = builder.select(_between(builder, block, "A", "Z"), builder.or_(block, _all(0x20)), block)
    builder.store(builder.select(lower, small, block), builder.inttoptr(to, BLOCK.as_pointer()), align=1)


def _prefetch(builder: ir.IRBuilder, address: ir.Value) -> None:
    pointer = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, NUMBER, NUMBER, NUMBER])
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
    to_read, cache, of_data = NUMBER(0), NUMBER(2), NUMBER(1)
    builder.call(prefetch, [builder.inttoptr(address, pointer), to_read, cache, of_data])


@_instruction(types.none(types.int64, types.int64))
def fetch(builder: ir.IRBuilder, address: ir.Value, size: ir.Value) -> None:
    """Prefetch lines, to be read, into all caches but the first."""
    for first, end in ((0, 1), (1, 2), (2, 4), (4, 8)):  # no loop: rows have a power of two of lines
        with builder.if_then(builder.icmp_signed(">", size, WHOLE(first * LINE))):
            for line in range(first, end):
                _prefetch(builder, builder.add(address, WHOLE(line * LINE)))


@_instruction(types.int64(types.uint64))
def lowest_bit(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """Count the zeros below."""
    return builder.cttz(bits, ir.IntType(1)(0))


@_instruction(types.int64(types.uint64))
def count_bits(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """Count the ones."""
    return builder.ctpop(bits)


@_instruction(types.uint64(types.int64))
def eight_bytes(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """Load a number that need not be aligned."""
    return builder.load(builder.inttoptr(address, WHOLE.as_pointer()), align=1)
