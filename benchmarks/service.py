"""`hinged serve` under load: throughput, latency at half load, bulk learning, memory of many models."""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.report import Bar, Report, Sheet
from hinged.client import Client
from hinged.service.access import create_token

SEED = 7
CONNECTIONS, LABELS, WORDS = 32, 30, 3000
RATE, DELAY, BULK, MEMORY = 2000.0, 20.0, 50_000.0, 2e9
SCRIPT = Path(__file__).with_name("service.lua")
PROGRAM = "from hinged.cli.main import main; main()"
TICKS = os.sysconf("SC_CLK_TCK")
MODELS = {
    "TextClassifier, as it comes": {},
    'TextClassifier, rule="pa1", sharing="multi"': {"rule": "pa1", "sharing": "multi", "features": None},
}


class Load(NamedTuple):
    """Results of wrk, and the CPU time of the server."""

    rate: float
    p50: float
    p99: float
    failed: int
    processor: float  # microseconds a request


@contextmanager
def served(*options: str) -> Iterator[tuple[str, str, int]]:
    """Start a server on a temporary folder on this file's disk; yield address, token and process id."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("HINGED_BENCH_DIR")) as folder:
        token = create_token(Path(folder) / "tokens.json", "*", "admin")
        command = [sys.executable, "-c", PROGRAM, "serve", folder, "--port", "0", *options]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            assert server.stderr is not None
            found = re.search(r"at (http://\S+);", server.stderr.readline())
            if found is None:
                raise RuntimeError("the server did not start")
            try:
                yield found[1], token, server.pid
            finally:
                server.terminate()


def run(quick: bool) -> Report:
    """Measure servers under load with wrk, one kind of request at a time.

    Parameters
    ----------
    quick : bool
        A second of each load, few rows, few models.
    """
    if shutil.which("wrk") is None:
        raise RuntimeError("the load tool wrk is not installed; on Debian: apt install wrk.")
    seconds, rows, models = (1, 20_000, 20) if quick else (8, 200_000, 1000)
    full, half = Sheet("Full load", COLUMNS), Sheet("Half load", COLUMNS)
    figures: dict[str, Load] = {}
    for shared, options in {"shared waits": (), "a wait for each": ("--group", "1")}.items():
        with served(*options) as (url, token, pid):
            _teach(url, token)
            for what in ("learn", "predict"):
                told = figures[f"{what}, {shared}"] = _load(url, token, pid, what, seconds, 0)
                full.rows.append(_row(f"{what}, {shared}", told))
            for what in ("learn", "predict") if not options else ():
                told = figures[f"{what}, half"] = _at_half(url, token, pid, what, seconds)
                half.rows.append(_row(what, told))
    bulk = Sheet("Bulk NDJSON learn", ["model", "rows/s", "processor µs/row"], [])
    rates = {name: _bulk(settings, rows, bulk, name) for name, settings in MODELS.items()}
    memory, per_model = _memory(models)
    held = Sheet("Many models", ["models", "messages each", "resident GB", "KB a model"])
    held.rows.append([models, 1000, memory / 1e9, per_model / 1e3])
    return Report(
        "service",
        f"texts of 22 words from a vocabulary of {WORDS:,}, {LABELS} labels, for full and half load; of 10 words for "
        f"bulk and memory; seed {SEED}",
        f"wrk, one thread, {CONNECTIONS} keep-alive connections, {seconds} s, client and server on the same machine; "
        "half load pauses before each request. CPU time is that of the server. Bulk: one request with all rows",
        [full, half, bulk, held],
        [
            *(_at_least(f"{w} requests", figures[f"{w}, shared waits"].rate, RATE, "/s") for w in ("learn", "predict")),
            *(_below(f"p99 of {w} at half load", figures[f"{w}, half"].p99, DELAY, "ms") for w in ("learn", "predict")),
            *(_at_least(f"bulk learn, {name}", rate, BULK, " rows/s") for name, rate in rates.items()),
            _below(f"{models:,} models of 1,000 messages", memory / 1e9, MEMORY / 1e9, "GB"),
        ],
    )


COLUMNS = ["requests", "a second", "p50 ms", "p99 ms", "failed", "processor µs"]


def _row(name: str, told: Load) -> list[Any]:
    return [name, told.rate, told.p50, told.p99, told.failed, told.processor]


def _load(url: str, token: str, pid: int, what: str, seconds: int, wait: float) -> Load:
    used = _processor(pid)
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-s", str(SCRIPT)]
    done = subprocess.run(
        [*command, f"{url}/v1/models/mail/{what}", "--", token, str(wait)], check=True, capture_output=True, text=True
    ).stdout
    used = _processor(pid) - used
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", done)
    requests = int(re.findall(r"(\d+) requests in", done)[0])
    rate = float(re.findall(r"Requests/sec:\s+([\d.]+)", done)[0])
    p50, p99 = (_milliseconds(re.findall(rf"{part}%\s+([\d.]+)(us|ms|s)", done)[0]) for part in (50, 99))
    return Load(rate, p50, p99, int(failed[1]) if failed else 0, 1e6 * used / requests)


def _at_half(url: str, token: str, pid: int, what: str, seconds: int) -> Load:
    """Measure at half of the target rate; the pause between requests is found by trial, since responses take time."""
    wait = 1000 * CONNECTIONS / (RATE / 2)
    for _ in range(3):
        told = _load(url, token, pid, what, 1, round(wait))
        wait = max(1.0, wait + 1000 * CONNECTIONS * (2 / RATE - 1 / told.rate))
    return _load(url, token, pid, what, seconds, round(wait))


def _teach(url: str, token: str) -> None:
    with Client(url, token, timeout=600) as client:
        client.create("mail").learn_many(_examples(1000, 22))
        client.model("mail").predict("word1 word2")


def _examples(n: int, length: int) -> list[tuple[str, str]]:
    rng = random.Random(SEED)
    examples = []
    for _ in range(n):
        label = rng.randrange(LABELS)
        words = [*(rng.randrange(WORDS) for _ in range(length - 2)), label, label + LABELS]
        examples.append((" ".join(f"word{i}" for i in words), f"folder {label}"))
    return examples


def _bulk(settings: dict[str, Any], rows: int, sheet: Sheet, name: str) -> float:
    """Return rows per second of one bulk request, after a first one that loads compiled code."""
    body = _lines(_examples(rows, 10))
    with served() as (url, token, pid), Client(url, token, timeout=600) as client:
        send = client._connection.send
        for model in ("first", "second"):
            path = client.create(model, **settings).path
            used, began = _processor(pid), time.perf_counter()
            send("POST", f"{path}/learn-many", body, "application/x-ndjson", again=False)
            took, used = time.perf_counter() - began, _processor(pid) - used
    sheet.rows.append([name, rows / took, 1e6 * used / rows])
    return rows / took


def _memory(models: int) -> tuple[float, float]:
    """Return resident bytes with that many models of 1,000 messages each, and the bytes per model."""
    body = _lines(_examples(1000, 10))
    with served("--memory", "2G") as (url, token, pid), Client(url, token, timeout=600) as client:
        client.create("m0").learn("word1", "folder 1")
        before = _resident(pid)
        for i in range(models):
            path = client.create(f"m{i}").path
            client._connection.send("POST", f"{path}/learn-many", body, "application/x-ndjson", again=False)
        for i in range(models):
            client.model(f"m{i}").predict("word1 word2")
        after = _resident(pid)
    return after, (after - before) / models


def _lines(examples: list[tuple[str, str]]) -> bytes:
    return "".join(f'{{"x": "{x}", "y": "{y}"}}\n' for x, y in examples).encode()


def _processor(pid: int) -> float:
    """Return the CPU seconds used by a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _resident(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _milliseconds(said: tuple[str, str]) -> float:
    return float(said[0]) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[said[1]]


def _at_least(what: str, measured: float, floor: float, unit: str) -> Bar:
    return Bar(f"{what} ≥ {floor:,.0f}{unit}", f"{measured:,.0f}{unit}", measured >= floor)


def _below(what: str, measured: float, ceiling: float, unit: str) -> Bar:
    return Bar(f"{what} < {ceiling:g} {unit}", f"{measured:.3g} {unit}", measured < ceiling)
