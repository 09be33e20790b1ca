"""Processes killed while they learn: what was acknowledged is there, and the model is the journal's."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KILLS = 300 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 10


def test_no_acknowledged_example_is_lost_by_a_kill(tmp_path):
    program = [sys.executable, "-m", "tests.journal.kills", str(tmp_path), str(KILLS), "1"]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["lost"] == []
    assert len(result["counts"]) == KILLS
    assert result["counts"] == sorted(result["counts"])
    assert result["acknowledged"] > KILLS
