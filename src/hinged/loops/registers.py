"""Sums of weighted rows, moves of rows, and the best of many scores, with all columns kept in vector registers.

A compiler that sees only arrays writes the sums back after every row, and the next row waits for them. Here the columns
are one value of LLVM's vector type: sixteen columns or eight to a register, whatever the processor has. Each column
is added up in the order of the rows, by a product and a sum, so that the result is that of plain loops to the last bit.

Moves ask for the rows that the next sum will need, one for each they write: a sum waits for memory, a move does not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, njit, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

from hinged.loops.pages import segment

__all__ = ["WIDTHS", "fetch", "four_squares", "move_pair", "move_rows", "rival_of", "sum_rows"]

WIDTHS = (8, 16, 32, 64)  # how many columns a call may have
LINE = 64  # bytes that memory hands out at once
ALL_CACHES, ALL_BUT_THE_FIRST = 3, 2  # where what was asked for is kept


def _loop(builder: Any, n: Any, carried: Any, step: Any) -> Any:
    """A loop of `n` turns: carried = step(carried, turn)."""
    count = ir.IntType(64)
    before = builder.block
    head, body, after = (builder.append_basic_block(name) for name in ("turns", "turn", "turns.end"))
    builder.branch(head)
    builder.position_at_end(head)
    j, now = builder.phi(count), builder.phi(carried.type)
    j.add_incoming(count(0), before)
    now.add_incoming(carried, before)
    builder.cbranch(builder.icmp_signed("<", j, n), body, after)
    builder.position_at_end(body)
    now.add_incoming(step(now, j), body)
    j.add_incoming(builder.add(j, count(1)), body)
    builder.branch(head)
    builder.position_at_end(after)
    return now


def _each_row(builder: Any, at: Any, v: Any, n: Any, vector: Any, carried: Any, step: Any) -> Any:
    """A loop over `n` addresses and values: carried = step(carried, row, value, which of them)."""

    def turn(now: Any, j: Any) -> Any:
        row = builder.inttoptr(builder.load(builder.gep(at, [j])), vector.as_pointer())
        return step(now, row, builder.load(builder.gep(v, [j])), j)

    return _loop(builder, n, carried, turn)


def _everywhere(builder: Any, vector: Any, value: Any) -> Any:
    """A vector with one value in every place."""
    undefined, number = ir.Constant(vector, ir.Undefined), ir.IntType(32)
    one = builder.insert_element(undefined, value, number(0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(number, vector.count), None))


def _ask(builder: Any, address: Any, where: int) -> None:
    """Ask for a line of memory, to read."""
    pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
    ask = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
    builder.call(ask, [builder.inttoptr(address, pointer), number(0), number(where), number(1)])


def _columns(width: int) -> tuple[Any, Any, Any, Any]:
    """The loops for so many columns; arrays come as addresses, `like` tells what the values are."""

    def prepared(context: Any, builder: Any, args: Any, like: Any) -> Any:
        vector = ir.VectorType(context.get_value_type(like.dtype), width)
        at, v, array = (
            builder.inttoptr(args[i], kind.as_pointer())
            for i, kind in ((0, ir.IntType(64)), (1, vector.element), (3, vector))
        )
        return at, v, array, vector, like.dtype.bitwidth // 8

    def ask_for(builder: Any, ahead: Any, j: Any, size: int) -> None:
        count = ir.IntType(64)
        address = builder.load(builder.gep(builder.inttoptr(ahead, count.as_pointer()), [j]))
        for line in range(0, width * size, LINE):
            _ask(builder, builder.add(address, count(line)), ALL_BUT_THE_FIRST)

    @intrinsic
    def sums(typing_context: Any, at: Any, v: Any, n: Any, s: Any, like: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            at, v, s, vector, size = prepared(context, builder, args, like)

            def step(now: Any, row: Any, value: Any, j: Any) -> Any:
                value = _everywhere(builder, vector, value)
                return builder.fadd(now, builder.fmul(value, builder.load(row, align=size)))

            total = _each_row(builder, at, v, args[2], vector, ir.Constant(vector, None), step)
            builder.store(total, s, align=size)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64, types.int64, like), generate

    @intrinsic
    def moves(typing_context: Any, at: Any, v: Any, n: Any, g: Any, ahead: Any, like: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            at, v, g, vector, size = prepared(context, builder, args, like)

            def step(now: Any, row: Any, value: Any, j: Any) -> Any:
                value = _everywhere(builder, vector, value)
                moved = builder.fadd(builder.load(row, align=size), builder.fmul(value, now))
                builder.store(moved, row, align=size)
                ask_for(builder, args[4], j, size)
                return now

            _each_row(builder, at, v, args[2], vector, builder.load(g, align=size), step)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64, types.int64, types.int64, like), generate

    @intrinsic
    def pairs(typing_context: Any, at: Any, v: Any, n: Any, up: Any, down: Any, by: Any, ahead: Any, like: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value_type = context.get_value_type(like.dtype)
            at, v = (builder.inttoptr(args[i], kind.as_pointer()) for i, kind in ((0, ir.IntType(64)), (1, value_type)))
            one = ir.VectorType(value_type, 1)

            def step(now: Any, row: Any, value: Any, j: Any) -> Any:
                row, move = builder.bitcast(row, value_type.as_pointer()), builder.fmul(value, args[5])
                for column, change in ((args[3], builder.fadd), (args[4], builder.fsub)):
                    place = builder.gep(row, [column])
                    builder.store(change(builder.load(place), move), place)
                ask_for(builder, args[6], j, like.dtype.bitwidth // 8)
                return now

            _each_row(builder, at, v, args[2], one, ir.Constant(one, None), step)
            return context.get_dummy_value()

        whole = types.int64
        return types.void(whole, whole, whole, whole, whole, like.dtype, whole, like), generate

    @intrinsic
    def rival(typing_context: Any, s: Any, k: Any, y: Any, like: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            number, count = ir.IntType(32), ir.IntType(64)
            vector = ir.VectorType(context.get_value_type(like.dtype), width)
            places = ir.VectorType(number, width)
            scores = builder.load(builder.inttoptr(args[0], vector.as_pointer()), align=like.dtype.bitwidth // 8)
            place = ir.Constant(places, list(range(width)))
            k, y = (_everywhere(builder, places, builder.trunc(args[i], number)) for i in (1, 2))
            counts = builder.and_(builder.icmp_signed("<", place, k), builder.icmp_signed("!=", place, y))
            counts = builder.and_(counts, builder.fcmp_ordered("ord", scores, scores))
            lowest = _everywhere(builder, vector, ir.Constant(vector.element, -math.inf))
            scores = top = builder.select(counts, scores, lowest)
            half = width
            while half > 1:  # the upper half against the lower, until one is left
                half //= 2
                low, high = (
                    builder.shuffle_vector(
                        top, top, ir.Constant(ir.VectorType(number, half), list(range(at, at + half)))
                    )
                    for at in (0, half)
                )
                top = builder.select(builder.fcmp_ordered(">", low, high), low, high)
            best = builder.extract_element(top, number(0))
            equal = builder.and_(counts, builder.fcmp_ordered("==", scores, _everywhere(builder, vector, best)))
            bits = builder.bitcast(equal, ir.IntType(width))
            bits = bits if width == 64 else builder.zext(bits, count)
            where = builder.cttz(bits, ir.IntType(1)(0))
            return context.make_tuple(builder, signature.return_type, [best, where])

        answer = types.Tuple((like.dtype, types.int64))  # type: ignore[no-untyped-call]
        return answer(types.int64, types.int64, types.int64, like), generate

    return sums, moves, pairs, rival


@intrinsic
def _four_squares(typing_context: Any, v: Any, n: Any, like: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        narrow, number = ir.VectorType(context.get_value_type(like.dtype), 4), ir.IntType(32)
        wide = ir.VectorType(ir.DoubleType(), 4)
        first = builder.inttoptr(args[0], narrow.as_pointer())

        def step(now: Any, j: Any) -> Any:
            values = builder.load(builder.gep(first, [j]), align=like.dtype.bitwidth // 8)
            values = builder.fpext(values, wide) if narrow.element != wide.element else values
            return builder.fadd(now, builder.fmul(values, values))

        total = _loop(builder, builder.ashr(args[1], ir.IntType(64)(2)), ir.Constant(wide, None), step)
        a, b, c, d = (builder.extract_element(total, number(i)) for i in range(4))
        return context.make_tuple(builder, signature.return_type, [a, b, c, d])

    answer = types.UniTuple(types.float64, 4)  # type: ignore[no-untyped-call]
    return answer(types.int64, types.int64, like), generate


@intrinsic
def _fetch_line(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _ask(builder, args[0], ALL_CACHES)
        return context.get_dummy_value()

    return types.void(types.int64), generate


if config.DISABLE_JIT:  # type: ignore[attr-defined]

    def fetch(address: int, size: int) -> None:
        """Ask for memory that will be read soon; it need not be there."""

    def four_squares(v: Any, n: int) -> Any:
        """Σ v_j² over j = 0, 4, 8 ... up to the last whole four, over j = 1, 5, 9 ..., and so on."""
        whole = v[: n & ~3].astype(np.float64).reshape(-1, 4)
        sums = np.zeros(4)
        for four in whole:
            sums += four * four
        return tuple(sums.tolist())

    def sum_rows(at: Any, v: Any, n: int, columns: int, s: Any) -> None:
        """s[c] = Σ_j v_j row_j[c], in the order of the rows; `at` has their addresses."""
        s[:columns] = 0
        for j in range(n):
            s[:columns] += v[j] * segment(at[j], columns, s)

    def move_rows(at: Any, v: Any, n: int, columns: int, g: Any, ahead: Any) -> None:
        """row_j[c] += v_j g[c]; `at` has the rows' addresses, no two the same, `ahead` those that will be read next."""
        for j in range(n):
            row = segment(at[j], columns, g)
            row += v[j] * g[:columns]

    def move_pair(at: Any, v: Any, n: int, columns: int, up: int, down: int, by: Any, ahead: Any, like: Any) -> None:
        """The same where g is `by` in one column, -by in another, and 0 elsewhere."""
        for j in range(n):
            row = segment(at[j], columns, like)
            row[up] += v[j] * by
            row[down] -= v[j] * by

    def rival_of(s: Any, columns: int, k: int, y: int) -> tuple[Any, int]:
        """The largest of the first `k` scores but y's, and where it stands first; -inf and 64 if there is none."""
        counts = (np.arange(k) != y) & (s[:k] == s[:k])
        places = np.flatnonzero(counts)
        if not len(places):
            return s.dtype.type(-np.inf), 64
        where = int(places[s[places].argmax()])
        return s[where], where

else:
    (
        (_sum_8, _move_8, _pair_8, _rival_8),
        (_sum_16, _move_16, _pair_16, _rival_16),
        (_sum_32, _move_32, _pair_32, _rival_32),
        (_sum_64, _move_64, _pair_64, _rival_64),
    ) = map(_columns, WIDTHS)

    @njit(cache=True, inline="always")
    def fetch(address: int, size: int) -> None:
        """Ask for memory that will be read soon; it need not be there."""
        for line in range(0, size, LINE):
            _fetch_line(address + line)  # type: ignore[call-arg]

    @njit(cache=True, inline="always")
    def four_squares(v: Any, n: int) -> Any:
        """Σ v_j² over j = 0, 4, 8 ... up to the last whole four, over j = 1, 5, 9 ..., and so on."""
        return _four_squares(v.ctypes.data, n, v)  # type: ignore[call-arg]

    @njit(cache=True, inline="always")
    def sum_rows(at: Any, v: Any, n: int, columns: int, s: Any) -> None:
        """s[c] = Σ_j v_j row_j[c], in the order of the rows; `at` has their addresses."""
        if columns == 8:
            _sum_8(at.ctypes.data, v.ctypes.data, n, s.ctypes.data, s)
        elif columns == 16:
            _sum_16(at.ctypes.data, v.ctypes.data, n, s.ctypes.data, s)
        elif columns == 32:
            _sum_32(at.ctypes.data, v.ctypes.data, n, s.ctypes.data, s)
        else:
            _sum_64(at.ctypes.data, v.ctypes.data, n, s.ctypes.data, s)

    @njit(cache=True, inline="always")
    def move_rows(at: Any, v: Any, n: int, columns: int, g: Any, ahead: Any) -> None:
        """row_j[c] += v_j g[c]; `at` has the rows' addresses, no two the same, `ahead` those that will be read next."""
        if columns == 8:
            _move_8(at.ctypes.data, v.ctypes.data, n, g.ctypes.data, ahead.ctypes.data, g)
        elif columns == 16:
            _move_16(at.ctypes.data, v.ctypes.data, n, g.ctypes.data, ahead.ctypes.data, g)
        elif columns == 32:
            _move_32(at.ctypes.data, v.ctypes.data, n, g.ctypes.data, ahead.ctypes.data, g)
        else:
            _move_64(at.ctypes.data, v.ctypes.data, n, g.ctypes.data, ahead.ctypes.data, g)

    @njit(cache=True, inline="always")
    def move_pair(at: Any, v: Any, n: int, columns: int, up: int, down: int, by: Any, ahead: Any, like: Any) -> None:
        """The same where g is `by` in one column, -by in another, and 0 elsewhere."""
        if columns == 8:
            _pair_8(at.ctypes.data, v.ctypes.data, n, up, down, by, ahead.ctypes.data, like)
        elif columns == 16:
            _pair_16(at.ctypes.data, v.ctypes.data, n, up, down, by, ahead.ctypes.data, like)
        elif columns == 32:
            _pair_32(at.ctypes.data, v.ctypes.data, n, up, down, by, ahead.ctypes.data, like)
        else:
            _pair_64(at.ctypes.data, v.ctypes.data, n, up, down, by, ahead.ctypes.data, like)

    @njit(cache=True, inline="always")
    def rival_of(s: Any, columns: int, k: int, y: int) -> tuple[Any, int]:
        """The largest of the first `k` scores but y's, and where it stands first; -inf and 64 if there is none."""
        if columns == 8:
            return _rival_8(s.ctypes.data, k, y, s)
        if columns == 16:
            return _rival_16(s.ctypes.data, k, y, s)
        if columns == 32:
            return _rival_32(s.ctypes.data, k, y, s)
        return _rival_64(s.ctypes.data, k, y, s)
