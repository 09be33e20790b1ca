"""Sums over past rows that live on a device, by PyTorch; only what is needed comes back to the host."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, DTypeLike

from hinged.mercer.expansion import Expansion, Held
from hinged.mercer.functions import ASYMMETRY, Gaussian, Linear, Polynomial, RowKernel, check_values
from hinged.mercer.rounds import LabelRounds, Rounds

__all__ = ["TensorExpansion", "learn_labels", "program_for"]

#: Values of the kernel held at once, unless asked otherwise: what stays in the cache of a large card.
TILE = 1 << 23
LEAST_TILE = 1 << 12
#: Rounds of a block, and blocks that are brought to the device at once.
BLOCK, AT_ONCE = 1024, 8
BUILT_IN = (Linear, Polynomial, Gaussian)


class TensorExpansion(Expansion):
    """`Expansion` on a device: `filled` is a copy on the host, everything else stays where it is."""

    def __init__(self, n_features: int, n_outputs: int, dtype: DTypeLike, device: torch.device) -> None:
        self.device = torch.device(device)
        self.kind = torch.float32 if np.dtype(dtype) == np.float32 else torch.float64
        super().__init__(n_features, n_outputs, dtype)

    def _room(self, room: int, n_features: int, n_outputs: int) -> Any:
        def zeros(*shape: int, of: torch.dtype = self.kind) -> torch.Tensor:
            return torch.zeros(shape, dtype=of, device=self.device)

        parts: Any = zeros(room, n_features), zeros(room), zeros(room, n_outputs), zeros(room, of=torch.int64)
        return Held(*parts)

    @property
    def used(self) -> Any:
        """What is in use, on the device."""
        n, held = self.state
        return Held(*(array[:n] for array in held))

    @property
    def filled(self) -> Held:
        """What is in use, copied to the host."""
        return Held(*(array.cpu().numpy() for array in self.used))

    def put(self, array: ArrayLike, kind: torch.dtype | None = None) -> torch.Tensor:
        """An array on the device, in the expansion's own type unless another is given."""
        return torch.as_tensor(array, dtype=kind or self.kind, device=self.device)

    def append(self, rows: Any, coef: Any, rounds: Any) -> None:
        """Take in rows that made a step, from the host or the device."""
        super().append(self.put(rows), self.put(coef), self.put(rounds, torch.int64))  # type: ignore[arg-type]

    def squares_of(self, rows: Any) -> Any:
        """‖x‖² of each row."""
        return (rows * rows).sum(dim=1)

    def copy(self) -> TensorExpansion:
        """The same sum; the rows are shared, and neither will write over the other's."""
        twin, used = object.__new__(type(self)), self.used
        vars(twin).update(vars(self), state=(len(used.rounds), used))
        return twin

    def add_scores(
        self,
        kernel: RowKernel,
        X: np.ndarray,
        sq: np.ndarray,
        out: np.ndarray,
        tile: int = TILE,
        share: object = None,
        start: int = 0,
    ) -> None:
        """Add f(x) of each row to `out` (outputs, rows), both on the host; the device shares the work by itself."""
        found = torch.zeros((len(X), self.n_outputs), dtype=torch.float64, device=self.device)
        x, of_x = self.put(X), self.put(sq)
        _with_room(lambda t: self.scores(kernel, x, of_x, t, found, start), max(tile, TILE), self)
        k = min(len(out), self.n_outputs)
        out[:k] += found[:, :k].T.cpu().numpy()

    def scores(
        self, kernel: RowKernel, X: torch.Tensor, sq: torch.Tensor, tile: int, out: torch.Tensor, start: int = 0
    ) -> None:
        """Fill `out`, float64 (rows, outputs), with f(x) by past rows from `start` on; all on the device."""
        held = self.used
        n, d = len(held.rows), min(X.shape[1], held.rows.shape[1])
        if n == start:
            out.zero_()
        step = max(1, min(n - start, tile // max(1, len(X))))
        for first in range(start, n, step):
            part = slice(first, first + step)
            found = values(kernel, X[:, :d], held.rows[part, :d], sq, held.squares[part]) @ held.coef[part]
            out.copy_(found) if first == start else out.add_(found)


def values(
    kernel: RowKernel, A: torch.Tensor, B: torch.Tensor, left: torch.Tensor, right: torch.Tensor
) -> torch.Tensor:
    """K of every row of A with every row of B; `left` and `right` are their squared norms."""
    if not isinstance(kernel, BUILT_IN):
        return torch.as_tensor(kernel(A, B), dtype=A.dtype, device=A.device)
    products = A @ B.T
    if isinstance(kernel, Gaussian):
        products *= 2.0 * kernel.coefficient
        products -= kernel.coefficient * left[:, None]
        products -= kernel.coefficient * right[None, :]
        products.clamp_(max=0.0).exp_()
    elif isinstance(kernel, Polynomial):
        base = products.add_(kernel.a) if kernel.a else products
        for bit in f"{int(kernel.d):b}"[1:]:  # by repeated squaring
            products = products * products if products is base else products.mul_(products)
            if bit == "1":
                products.mul_(base)
    return products


def program_for(rounds: Rounds, device: torch.device, n_outputs: int) -> Any:
    """The module that runs these rounds on the device, or None where they must be decided on the host."""
    on_device = torch.device(device).type == "cuda" or os.environ.get("TRITON_INTERPRET") == "1"
    if not on_device or not isinstance(rounds, LabelRounds) or (np.diff(rounds.indptr) != 1).any():
        return None  # one constraint a round, or a set of right labels
    try:
        from hinged.mercer import persistent
    except ImportError:  # no Triton
        return None
    return persistent if persistent.can_run(rounds.rule.words, n_outputs) else None


def learn_labels(
    module: ModuleType,
    own: TensorExpansion,
    kernel: RowKernel,
    X: np.ndarray,
    rounds: LabelRounds,
    first_round: int = 0,
    block: int | None = None,
    tile: int | None = None,
) -> None:
    """Learn rows with one right label each, in order; the host only learns how many rows of a block to keep."""
    n, k = len(X), own.n_outputs
    size = block or BLOCK
    program = module.Program(rounds.rule, min(size, n), k, rounds.n_known, own.device)
    meta = own.put(np.column_stack([rounds.labels, *rounds.caps()]), torch.float64)
    told = torch.zeros((n, len(module.COLUMNS)), dtype=torch.float64, device=own.device)

    def learn_block(x: torch.Tensor, first: int, tile: int) -> None:
        part = slice(first, first + len(x))
        sq = own.squares_of(x)
        among = values(kernel, x, x, sq, sq)
        if isinstance(kernel, Gaussian):
            among.fill_diagonal_(1.0)
        own.scores(kernel, x, sq, tile, program.scores[: len(x), :k])
        moved, n_known, sound = program.run(among, meta[part], told[part])
        if not (sound and (isinstance(kernel, BUILT_IN) or _symmetric(among, own.dtype))):
            refuse(kernel, X[part], own.dtype)
        program.keep(moved, x, sq, own.room_for(len(moved)), first_round + first)
        own.n += len(moved)
        program.n_known = n_known

    start = 0
    for rows in _brought(own, X, AT_ONCE * size):
        for first in range(0, len(rows), size):
            _with_room(partial(learn_block, rows[first : first + size], start + first), tile or TILE, own)
        start += len(rows)
    rounds.take_in(dict(zip(module.COLUMNS, told.T.cpu().numpy(), strict=True)), program.n_known)


def _symmetric(among: torch.Tensor, dtype: DTypeLike) -> bool:
    """Return True if the two halves differ by no more than rounding, as in `check_values`."""
    allowed = ASYMMETRY[np.dtype(dtype).name] * max(1.0, float(among.diagonal().max()))
    return float((among - among.T).abs().max()) <= allowed


def _brought(own: TensorExpansion, X: np.ndarray, some: int) -> Iterator[torch.Tensor]:
    """Rows on the device, some at a time; the next ones travel while these are learnt."""
    side = torch.cuda.Stream(own.device) if own.device.type == "cuda" else None

    def bring(first: int) -> torch.Tensor:
        with torch.cuda.stream(side):
            rows = own.put(X[first : first + some])
        if side is not None:
            side.synchronize()
        return rows

    with ThreadPoolExecutor(1) as carrier:
        coming = carrier.submit(bring, 0)
        for first in range(0, len(X), some):
            rows = coming.result()
            if first + some < len(X):
                coming = carrier.submit(bring, first + some)
            if side is not None:
                rows.record_stream(torch.cuda.current_stream(own.device))
            yield rows


def refuse(kernel: RowKernel, X: np.ndarray, dtype: DTypeLike) -> None:
    """Raise the error that the host would raise for a block's values."""
    x = torch.as_tensor(np.ascontiguousarray(X, dtype))
    sq = (x * x).sum(dim=1)
    check_values(kernel, values(kernel, x, x, sq, sq).numpy(), isinstance(kernel, BUILT_IN))
    raise ValueError(f"scores by kernel={kernel!r} left the range of {np.dtype(dtype).name}. Scale the rows down.")


def _with_room(run: Callable[[int], Any], tile: int, own: TensorExpansion) -> Any:
    """Run with a tile; where the device has no room for it, with smaller ones."""
    while True:
        try:
            return run(tile)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            if tile <= LEAST_TILE:
                size = own.n * own.n_features * own.dtype.itemsize / 2**20
                raise MemoryError(
                    f"the device is out of memory; {own.n:,} rows of {own.n_features:,} features are remembered there, "
                    f"{size:,.0f} MiB. Use device='cpu', or bound them with budget= on the CPU."
                ) from None
            tile = max(LEAST_TILE, tile // 4)
