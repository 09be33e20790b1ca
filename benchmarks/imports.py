"""How long `import hinged` takes in a new process."""

import statistics
import subprocess
import sys

from benchmarks.report import Report, Sheet, at_most

BAR = 0.2
CLOCK = "import time; start = time.perf_counter(); {what}; print(time.perf_counter() - start)"
STATEMENTS = {
    "import hinged": "import hinged",
    "import hinged, then name Classifier": "import hinged; hinged.Classifier",
    "import numpy": "import numpy",
    "import sklearn.linear_model": "import sklearn.linear_model",
}


def run(quick: bool) -> Report:
    """Import in new processes and take the median.

    Parameters
    ----------
    quick : bool
        3 processes in place of 11.
    """
    repeats = 3 if quick else 11
    taken = {name: _median(statement, repeats) for name, statement in STATEMENTS.items()}
    sheet = Sheet("Warm imports", ["statement", "median seconds"], [[name, value] for name, value in taken.items()])
    return Report(
        "imports",
        "none",
        f"median of {repeats} new processes after one untimed, timed inside the process, interpreter start excluded",
        [sheet],
        [at_most("import hinged", taken["import hinged"], BAR, "s")],
    )


def _median(statement: str, repeats: int) -> float:
    command = [sys.executable, "-c", CLOCK.format(what=statement)]
    outputs = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(repeats + 1)]
    return statistics.median(float(done.stdout) for done in outputs[1:])
