"""Caching of compiled code with a read-only package and without a writable home folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.needs import program

import hinged

ASK = """
import os
from hinged.rules.length import pa1
print(pa1(1.0, 4.0, 1.0), os.path.isdir(os.environ["NUMBA_CACHE_DIR"]), os.environ["NUMBA_CACHE_DIR"])
"""


def test_code_is_compiled_where_neither_package_nor_home_may_be_written(tmp_path):
    package, temporary = tmp_path / "packages" / "hinged", tmp_path / "temporary"
    shutil.copytree(Path(hinged.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    folders = [Path(folder) for folder, _, _ in os.walk(package.parent)]
    temporary.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(package), "TMPDIR": str(temporary)}
    environment |= {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", ASK]
    if os.getuid() == 0:  # root ignores permissions unless this capability is dropped
        command = [str(program("setpriv", "util-linux")), "--bounding-set", "-dac_override", *command]
    for folder in folders:
        folder.chmod(0o555)
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd="/", check=False)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert done.returncode == 0, done.stderr
    step, stored, folder = done.stdout.split()
    assert (step, stored) == ("0.25", "True")
    assert folder.startswith(str(temporary))
    assert os.listdir(temporary) == []
