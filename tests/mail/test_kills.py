"""Processes killed while they learn mail: no acknowledged message is lost, none is learnt twice."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KILLS = 300 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 10


def test_learning_mail_survives_kills(tmp_path):
    program = [sys.executable, "-m", "tests.mail.kills", str(tmp_path), str(KILLS), "1"]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["lost"] == []
