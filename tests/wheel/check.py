"""Install a wheel into an empty environment and use it as a newcomer would; `make test-wheel` runs this.

    python tests/wheel/check.py WHEEL PACKAGES

PACKAGES is a folder with the wheels of all that it requires. Prints a line for each check and ends with their number.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEVELS = {"the best level": {}, "generic": {"NUMBA_CPU_NAME": "generic"}}
LARGEST = 25e6  # bytes
PROGRAMS = "Scripts" if os.name == "nt" else "bin"  # where an environment has them

#: How many versions were loaded and how many compiled, by all functions together.
COUNT = """
from hinged.compiling.decorator import DISPATCHERS
hits = sum(sum(each.stats.cache_hits.values()) for each in DISPATCHERS)
misses = sum(sum(each.stats.cache_misses.values()) for each in DISPATCHERS)
print(hits, misses)
"""


def run(*command, **variables):
    """Run a program with a home folder of its own; return its seconds and output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTHON"))}
    began = time.perf_counter()
    done = subprocess.run(command, env=environment | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return time.perf_counter() - began, done.stdout


def first_block():
    """Return the first block of Python in the README; its examples `# → value` become checks."""
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL).group(1)
    return re.sub(r"^(.*?)  # → ('.*'|\(.*\)|\[.*\])$", r"assert \1 == \2", block, flags=re.MULTILINE)


def main():
    wheel, packages = map(Path, sys.argv[1:])
    passed = 0

    def check(sentence, holds):
        nonlocal passed
        print(f"{'ok' if holds else 'FAILED'}  {sentence}", flush=True)
        if not holds:
            sys.exit(1)
        passed += 1

    size = wheel.stat().st_size
    check(f"{wheel.name} has {size / 1e6:.1f} MB, at most {LARGEST / 1e6:.0f}", size <= LARGEST)
    with tempfile.TemporaryDirectory() as folder:
        home, python = Path(folder) / "home", Path(folder) / "venv" / PROGRAMS / "python"
        home.mkdir()
        run(sys.executable, "-m", "venv", str(python.parents[1]))
        install = (str(python), "-m", "pip", "install", "--quiet", "--no-index", "--find-links", str(packages))
        others, _ = run(*install, *(str(path) for path in packages.glob("*.whl")), HOME=str(home))
        seconds, _ = run(*install, str(wheel), HOME=str(home))
        first, _ = run(str(python), "-c", first_block(), HOME=str(home))
        print(f"    what it requires was installed in {others:.1f} s, the wheel in {seconds:.1f} s")
        check(
            f"installing the wheel and README's first block took {seconds + first:.1f} s, under 5", seconds + first < 5
        )
        again, counts = run(str(python), "-c", first_block() + COUNT, HOME=str(home))
        hits, misses = map(int, counts.split())
        check(
            f"a second time it took {again:.2f} s; {hits} functions loaded, {misses} compiled", hits > 0 and misses == 0
        )
        check("nothing was stored in the user's home", not list(home.rglob("hinged-code-*")))
        if "HINGED_CHECKS" in os.environ:
            bits = ROOT / "tests" / "wheel" / "golden_bits.py"
            _, native = run(sys.executable, str(bits))
            for name, variables in LEVELS.items():
                _, found = run(str(python), str(bits), HOME=str(home), **variables)
                streams = len(native.splitlines())
                check(f"{streams} golden streams on {name} equal native code to the last bit", found == native)
    print(f"{passed} passed, 0 failed")


if __name__ == "__main__":
    main()
