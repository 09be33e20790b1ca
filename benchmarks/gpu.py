"""Mercer kernels on a GPU: `python benchmarks/gpu.py DATA`. Needs only NumPy and PyTorch (with Triton).

DATA contains mnist/mnist.npz and usps/usps.npz. PA-I with C = 100 learns each set on the GPU after a warm-up, on the
CPU with NumPy in blocks, and in a NumPy loop that scores one row at a time. The loop is timed on a prefix and
extrapolated by the number of support vectors, and also timed on all rows. Mistakes are printed with the times.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

import torch  # noqa: E402

from hinged.mercer import Learnt, Polynomial, learn  # noqa: E402

SETS = {"usps": Polynomial(0.0, 3), "mnist": Polynomial(0.5, 5)}
PREFIX, REPEATS = 6000, 5


def digits(data: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the training rows of a set, preprocessed as in PA section 10.3, and their labels."""
    with np.load(data / name / f"{name}.npz") as arrays:
        X, y = arrays["x_train"], arrays["y_train"]
    X = X.reshape(len(X), -1).astype(np.float64)
    X -= X.mean(axis=0)
    X /= np.sqrt(np.mean((X**2).sum(axis=1)))
    return X.astype(np.float32), y.astype(np.int64)


def timed(work: Any) -> tuple[float, Any]:
    """Return the elapsed seconds and the return value."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    found = work()
    torch.cuda.synchronize()
    return time.perf_counter() - start, found


def remembered(learnt: Learnt, n: int) -> float:
    """Return the number of support vectors before each round, summed over the rounds."""
    assert learnt.machine.own is not None
    return float(np.searchsorted(np.sort(learnt.machine.own.filled.rounds), np.arange(n)).sum())


def plain_loop(X: np.ndarray, y: np.ndarray, kernel: Polynomial) -> tuple[float, float, int]:
    """Run PA-I with one vectorised score per round; return seconds, kernel evaluations and mistakes."""
    rows, coef = np.zeros_like(X), np.zeros((len(X), 10), X.dtype)
    n, work, mistakes, start = 0, 0.0, 0, time.perf_counter()
    for x, right in zip(X, y, strict=True):
        scores = ((kernel.a + rows[:n] @ x) ** kernel.d) @ coef[:n]
        work += n
        rival = int(np.argmax(np.where(np.arange(10) == right, -np.inf, scores)))
        gap = scores[right] - scores[rival]
        mistakes += gap <= 0.0
        if gap < 1.0:
            step = min(100.0, (1.0 - gap) / (2.0 * (kernel.a + x @ x) ** kernel.d))
            rows[n], coef[n, right], coef[n, rival] = x, step, -step
            n += 1
    return time.perf_counter() - start, work, int(mistakes)


def measure(data: Path, name: str, kernel: Polynomial) -> dict[str, Any]:
    """Measure one data set."""
    X, y = digits(data, name)

    def on(device: str, rows: np.ndarray = X, rule: str = "pa1", C: float = 100.0) -> Learnt:
        return learn(rows, y, kernel, rule, C, n_labels=10, device=device)

    warm, _ = timed(lambda: on("cuda"))
    runs = [timed(lambda: on("cuda")) for _ in range(REPEATS)]
    gpu = runs[0][1]
    seconds = [round(taken, 4) for taken, _ in runs]
    cpu_seconds, cpu = timed(lambda: on("cpu"))
    loop, looked_at, of_loop = min(plain_loop(X[:PREFIX], y[:PREFIX], kernel) for _ in range(3))
    work = remembered(gpu, len(X))
    estimate = loop * work / looked_at
    whole, _, of_whole = plain_loop(X, y, kernel)
    best = min(seconds)
    exact = X[:4000].astype(np.float64)
    differences = {}
    for rule, C in (("pa1", 100.0), ("simproj", 100.0), ("optimal", 1.0), ("simperc", 1.0), ("mira", float("inf"))):
        if rule in ("optimal", "mira") and not numba_is_here():
            continue
        ours, theirs = (learn(exact, y[:4000], kernel, rule, C, n_labels=10, device=d) for d in ("cuda", "cpu"))
        a, b = ours.machine.own.filled.coef, theirs.machine.own.filled.coef  # type: ignore[union-attr]
        same = (ours.flags == theirs.flags).all() and a.shape == b.shape
        differences[rule] = float(np.abs(a - b).max()) if same else "other mistakes"
    return {
        "set": name, "rows": len(X), "features": X.shape[1],
        "gpu seconds": seconds, "gpu first call": round(warm, 3), "gpu mistakes": gpu.mistakes, "steps": gpu.updates,
        "cpu blocked seconds": round(cpu_seconds, 3), "cpu mistakes": cpu.mistakes,
        "rounds flagged otherwise": int((gpu.flags != cpu.flags).sum()),
        "loop seconds": round(loop, 3), "loop rows": PREFIX, "loop mistakes": of_loop,
        "same rows on the gpu, mistakes": int((gpu.flags[:PREFIX] == 1).sum()),
        "loop seconds on all rows, estimate": round(estimate, 2),
        "loop seconds on all rows": round(whole, 2), "loop mistakes on all rows": of_whole,
         "times the loop, by the estimate": round(estimate / best, 1), "times the loop": round(whole / best, 1),
        "GFLOP/s": round(2.0 * X.shape[1] * work / best / 1e9),
        "largest difference of coefficients in float64, 4,000 rows": differences,
    }  # fmt: skip


def numba_is_here() -> bool:
    """Return True if Numba is installed, which the joint rules on the CPU need."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True


def without_room(data: Path) -> str:
    """Return the error message for an exhausted GPU memory."""
    X, y = digits(data, "usps")
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(0.0006)
    try:
        learn(X, y, SETS["usps"], C=100.0, n_labels=10, device="cuda")
    except MemoryError as error:
        return str(error)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    return "it went on in smaller portions"


def main() -> None:
    """Print results as JSON lines; exit with 1 if a target is missed."""
    data = Path(sys.argv[1])
    print(json.dumps({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "numpy": np.__version__}))
    missed = 0
    for name, kernel in SETS.items():
        found = measure(data, name, kernel)
        print(json.dumps(found, indent=1), flush=True)
        if name == "mnist":
            missed += min(found["gpu seconds"]) > 0.25 or found["times the loop"] < 100.0
    print(json.dumps({"out of memory": without_room(data)}))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
