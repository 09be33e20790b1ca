"""Sixty-four bytes at a time: which of them are what, as bits of one number, for loops that jump from one to the next.

Each function reads whole blocks, so 64 bytes (8 for `eight_bytes`) must lie at the address. Compiled, a block is one
vector; uncompiled, a loop over its bytes.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

__all__ = [
    "BLOCK",
    "copied",
    "count_bits",
    "eight_bytes",
    "equal_bytes",
    "fetch",
    "lowest_bit",
    "wide_bytes",
    "word_bytes",
]

BLOCK = 64

if config.DISABLE_JIT:  # type: ignore[attr-defined]

    def _mask(address: int, holds: Any) -> np.uint64:
        block = ctypes.string_at(int(address), BLOCK)
        return np.uint64(sum(1 << j for j, byte in enumerate(block) if holds(byte)))

    def equal_bytes(address: int, byte: int) -> Any:
        """Bit j is set where byte j is this one."""
        return _mask(address, lambda b: b == byte)

    def wide_bytes(address: int) -> Any:
        """Bit j is set where byte j is not ASCII."""
        return _mask(address, lambda b: b >= 0x80)

    def word_bytes(address: int) -> Any:
        """Bit j is set where byte j is an ASCII letter, a digit or the underscore."""
        return _mask(address, lambda b: b < 0x80 and (chr(b).isalnum() or b == ord("_")))

    def copied(address: int, to: int, lower: bool) -> None:
        """Write the block to another place, or the same; with `lower`, ASCII capitals become small."""
        block = ctypes.string_at(int(address), BLOCK)
        ctypes.memmove(int(to), block.lower() if lower else block, BLOCK)

    def eight_bytes(address: int) -> Any:
        """The 8 bytes at an address as one number, the first lowest."""
        return np.uint64(int.from_bytes(ctypes.string_at(int(address), 8), "little"))

    def fetch(address: int) -> None:
        """Ask for the memory at an address, which will be read soon; it need not be anybody's."""

    def lowest_bit(bits: Any) -> Any:
        """The place of the lowest bit set; anything where there is none."""
        return (int(bits) & -int(bits)).bit_length() - 1

    def count_bits(bits: Any) -> Any:
        """How many bits are set."""
        return int(bits).bit_count()

else:
    BYTES = ir.VectorType(ir.IntType(8), BLOCK)
    WHOLE = ir.IntType(64)

    def _load(builder: Any, address: Any, kind: Any) -> Any:
        return builder.load(builder.inttoptr(address, kind.as_pointer()), align=1)

    def _all(value: Any) -> Any:
        return ir.Constant(BYTES, [value] * BLOCK)

    def _between(builder: Any, block: Any, first: str, last: str) -> Any:
        shifted = builder.sub(block, _all(ord(first)))
        return builder.icmp_unsigned("<=", shifted, _all(ord(last) - ord(first)))

    @intrinsic
    def equal_bytes(typing_context: Any, address: Any, byte: Any) -> Any:
        """Bit j is set where byte j is this one."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            one = builder.insert_element(ir.Constant(BYTES, ir.Undefined), args[1], ir.Constant(ir.IntType(32), 0))
            all_alike = ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [0] * BLOCK)
            wanted = builder.shuffle_vector(one, ir.Constant(BYTES, ir.Undefined), all_alike)
            return builder.bitcast(builder.icmp_unsigned("==", _load(builder, args[0], BYTES), wanted), WHOLE)

        return types.uint64(types.int64, types.uint8), generate

    @intrinsic
    def wide_bytes(typing_context: Any, address: Any) -> Any:
        """Bit j is set where byte j is not ASCII."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(builder.icmp_signed("<", _load(builder, args[0], BYTES), _all(0)), WHOLE)

        return types.uint64(types.int64), generate

    @intrinsic
    def word_bytes(typing_context: Any, address: Any) -> Any:
        """Bit j is set where byte j is an ASCII letter, a digit or the underscore."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            block = _load(builder, args[0], BYTES)
            letter = _between(builder, builder.or_(block, _all(0x20)), "a", "z")
            other = builder.or_(_between(builder, block, "0", "9"), builder.icmp_unsigned("==", block, _all(ord("_"))))
            return builder.bitcast(builder.or_(letter, other), WHOLE)

        return types.uint64(types.int64), generate

    @intrinsic
    def copied(typing_context: Any, address: Any, to: Any, lower: Any) -> Any:
        """Write the block to another place, or the same; with `lower`, ASCII capitals become small."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            block = _load(builder, args[0], BYTES)
            small = builder.select(_between(builder, block, "A", "Z"), builder.or_(block, _all(0x20)), block)
            builder.store(builder.select(args[2], small, block), builder.inttoptr(args[1], BYTES.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.none(types.int64, types.int64, types.boolean), generate

    @intrinsic
    def eight_bytes(typing_context: Any, address: Any) -> Any:
        """The 8 bytes at an address as one number, the first lowest."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _load(builder, args[0], WHOLE)

        return types.uint64(types.int64), generate

    @intrinsic
    def fetch(typing_context: Any, address: Any) -> Any:
        """Ask for the memory at an address, which will be read soon; it need not be anybody's."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
            name = "llvm.prefetch.p0"
            prefetch = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
            to_read, keep, of_data = (ir.Constant(number, n) for n in (0, 3, 1))
            builder.call(prefetch, [builder.inttoptr(args[0], pointer), to_read, keep, of_data])
            return context.get_dummy_value()

        return types.none(types.int64), generate

    @intrinsic
    def lowest_bit(typing_context: Any, bits: Any) -> Any:
        """The place of the lowest bit set; anything where there is none."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

        return types.int64(types.uint64), generate

    @intrinsic
    def count_bits(typing_context: Any, bits: Any) -> Any:
        """How many bits are set."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.uint64), generate
