"""Readers fed with damaged files: 10⁴ in the short profile, 10⁶ in the long one, and guided by coverage beside."""

import importlib.util
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.fuzz.seeds import SEEDS, damaged
from tests.fuzz.target import run

ROOT = Path(__file__).resolve().parents[2]
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
PARTS = 10
PER_PART = 100_000 if LONG else 1_000
GUIDED = 200_000 if LONG else 2_000


@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_files_are_rows_and_sentences(part):
    rng = random.Random(part if not LONG else None)
    for _ in range(PER_PART):
        data = damaged(rng)
        start = time.thread_time()
        try:
            run(data)
        except BaseException:
            print("the input was", data)
            raise
        assert time.thread_time() - start < 10, data


def test_the_seeds_themselves_are_sound():
    for seed in SEEDS:
        run(seed)


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris has no wheel for this machine")
def test_damaged_files_found_by_coverage(tmp_path):
    """The compiled parsers run uncompiled here, so that every branch of theirs is seen by the fuzzer."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for i, seed in enumerate(SEEDS):
        if seed[0] < 7:  # Arrow's own code is not guided
            (corpus / str(i)).write_bytes(seed)
    command = [
        sys.executable,
        "-m",
        "tests.fuzz.guided",
        f"-runs={GUIDED}",
        f"-artifact_prefix={tmp_path}/",
        str(corpus),
    ]
    options = ["-max_len=400", "-timeout=20", "-rss_limit_mb=4000", "-verbosity=0", "-print_final_stats=1"]
    options += [] if LONG else ["-seed=1"]
    done = subprocess.run(
        command + options,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert f"stat::number_of_executed_units: {GUIDED}" in done.stderr
