"""How long a new process takes to its first answer, compared with River, scikit-learn and Vowpal Wabbit."""

import compileall
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Bar, Report, Sheet, at_most

DIST = Path(__file__).resolve().parents[1] / "dist"
HINGED = str(Path(sys.executable).with_name("hinged"))
LESSON = "{'win': 1.0, 'prize': 1.0}, 'spam'"
PEERS = {
    "River, one-vs-rest PA-I": f"""
from river.linear_model import PAClassifier
from river.multiclass import OneVsRestClassifier
model = OneVsRestClassifier(PAClassifier())
model.learn_one({LESSON})
model.predict_one({{'win': 1.0}})
""",
    "scikit-learn, SGD on hashed dicts": f"""
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import SGDClassifier
x, y = {LESSON}
rows = FeatureHasher(2**18)
model = SGDClassifier().partial_fit(rows.transform([x]), [y], classes=['ham', 'spam'])
model.predict(rows.transform([{{'win': 1.0}}]))
""",
    "Vowpal Wabbit, one-against-all": """
from vowpalwabbit import Workspace
model = Workspace('--oaa 2 --quiet')
model.learn('1 | win prize')
model.predict('| win')
""",
}
OURS = f"""
import hinged
model = hinged.Classifier()
model.learn_one({LESSON})
model.predict_one({{'win': 1.0}})
"""
STORED = OURS.replace("hinged.Classifier()", "hinged.load('one.hinged')")
EXAMPLES = '{"label": "spam", "text": "win a prize"}\n{"label": "ham", "text": "see you on friday"}\n'


class Taken(NamedTuple):
    """Seconds of a process, on the wall and of processors."""

    wall: float
    processor: float


class Case(NamedTuple):
    """What is started, and the bar in seconds."""

    command: list[str]
    bar: float | None = None
    first_line: bool = False  # timed up to the first line of output, not to the end


def run(quick: bool) -> Report:
    """Start new processes and take the medians of their seconds.

    Parameters
    ----------
    quick : bool
        3 processes in place of 11.
    """
    repeats = 3 if quick else 11
    with tempfile.TemporaryDirectory() as folder:
        _prepare(Path(folder))
        environment = _environment(Path(folder))
        taken = {name: _median(case, repeats, folder, environment) for name, case in CASES.items()}
        wheel = _from_wheel(Path(folder), repeats)
    bars = [at_most(name, taken[name].wall, case.bar, "s") for name, case in CASES.items() if case.bar is not None]
    if wheel is not None:
        taken["hinged, first answer ever, from the wheel"] = wheel
        times = wheel.processor / taken["River, one-vs-rest PA-I"].processor
        promise = "first answer ever, from the wheel, processor time over River's ≤ 1.5 ×"
        bars.append(Bar(promise, f"{times:.2f} ×", times <= 1.5))
    return Report(
        "start",
        "one dict of two features; two short texts; 200 generated messages",
        "wall seconds from the start of a process to its end, for `hinged predict` to its first line, and processor "
        f"seconds of all of it; medians of {repeats} processes after one untimed; machine code stored, but for the "
        "wheel (built by `make wheel`; left out where there is none), which is unpacked into an empty folder and used "
        "with an empty home",
        [Sheet("New processes", ["process", "wall s", "processor s"], [[name, *each] for name, each in taken.items()])],
        bars,
    )


CASES = {
    "hinged, stored model: load, learn_one, predict_one": Case([sys.executable, "-c", STORED], 1.0),
    "hinged, new model: learn_one, predict_one": Case([sys.executable, "-c", OURS]),
    **{name: Case([sys.executable, "-c", program]) for name, program in PEERS.items()},
    "hinged --help": Case([HINGED, "--help"], 0.15),
    "hinged predict, first row": Case([HINGED, "predict", "two.jsonl", "--model", "text.hinged"], 0.8, True),
    "hinged learn, two rows": Case([HINGED, "learn", "two.jsonl", "--model", "text.hinged"], 0.8),
    "hinged mail suggest, 200 messages": Case([HINGED, "mail", "suggest", "mail"], 1.0),
}


def _prepare(folder: Path) -> None:
    """Write examples, models and a mailbox to a folder."""
    (folder / "two.jsonl").write_text(EXAMPLES, encoding="utf-8")
    for command in (
        [sys.executable, "-c", OURS + "model.save('one.hinged')"],
        [HINGED, "learn", "two.jsonl", "--model", "text.hinged"],
        [HINGED, "mail", "demo", "mail", "--messages", "200"],
        [HINGED, "mail", "learn", "mail"],
    ):
        subprocess.run(command, cwd=folder, env=_environment(folder), check=True, capture_output=True)


def _median(case: Case, repeats: int, folder: str, environment: dict[str, str]) -> Taken:
    taken = [_seconds(case, folder, environment) for _ in range(repeats + 1)][1:]
    return Taken(*map(statistics.median, zip(*taken, strict=True)))


def _seconds(case: Case, folder: str, environment: dict[str, str]) -> Taken:
    start = time.perf_counter()
    with subprocess.Popen(
        case.command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        process.stdout.readline() if case.first_line else process.stdout.read()
        taken = time.perf_counter() - start
        process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(case.command)} failed with {process.returncode}.")
    return Taken(taken if case.first_line else time.perf_counter() - start, used.ru_utime + used.ru_stime)


def _environment(folder: Path) -> dict[str, str]:
    """The mail assistant's state lies in the folder; modules are compiled to bytecode, as where pip installed them."""
    environment = os.environ | {"XDG_STATE_HOME": str(folder / "state"), "XDG_DATA_HOME": str(folder / "data")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def _from_wheel(folder: Path, repeats: int) -> Taken | None:
    """Return the median of first answers from the newest wheel in dist/, each with an empty home; None without one."""
    wheels = sorted(DIST.glob("hinged-*-cp*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        return None
    packages = folder / "packages"
    with zipfile.ZipFile(wheels[-1]) as archive:
        archive.extractall(packages)
    compileall.compile_dir(packages, quiet=2)
    environment = _environment(folder) | {"PYTHONPATH": str(packages), "HOME": str(folder / "home")}
    for name in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        environment.pop(name, None)
    taken = _median(Case([sys.executable, "-c", OURS]), repeats, str(folder), environment)
    if (folder / "home").exists():
        raise RuntimeError(f"{wheels[-1].name} carries no code for this version of Numba or these sources.")
    return taken
