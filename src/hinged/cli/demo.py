"""`hinged demo`: six learners file a generated mailbox, one message at a time, side by side."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hinged.cli.options import AsJson, option
from hinged.cli.progress import bar
from hinged.cli.tables import bold, dim, emit_json, rows_of, say

if TYPE_CHECKING:
    from hinged.evaluate.report import Run
    from hinged.experiments import MailStream

__all__ = ["LEARNERS", "demo"]

PLAIN: dict[str, Any] = {"C": 1.0, "scaling": None}  # the papers' learners, on rows as they are
TEXT: dict[str, Any] = {"C": 1.0, "scaling": "idf", "normalize": True}
LEARNERS: dict[str, dict[str, Any]] = {
    "perceptron": {"rule": "perceptron", **PLAIN},
    "pa1": {"rule": "pa1", **PLAIN},
    "simproj + idf": {"rule": "simproj", **TEXT},
    "pa1 + idf": {"rule": "pa1", **TEXT},
    "hybrid pa1 + idf": {"rule": "pa1", "sharing": "hybrid", "features": "frequency", **TEXT},
    "no setting": {},
}
COLUMNS = ("learner", "mistakes", "%", "top 3 %", "updates", "seconds", "certificate")
NEXT = """\
import hinged
mail, model = hinged.datasets.mail_stream(), hinged.Classifier()
print(hinged.evaluate.progressive(model, mail.X, mail.y).rate)"""
YOURS = "And on your own mail (nothing is changed): hinged mail replay ~/Maildir --report replay.html"


def demo(
    messages: Annotated[int, option(None, "Number of messages.")] = 3000,
    folders: Annotated[int, option(None, "Number of folders, which appear over time.")] = 25,
    seed: Annotated[int, option(None, "Seed of the generated mailbox.")] = 0,
    out: Annotated[Path, option(None, "The folder for mistakes.png and report.html.")] = Path("hinged-demo"),
    as_json: AsJson = False,
) -> None:
    """Let six learners file a generated mailbox, side by side.

    Messages come one at a time. Ends with a table, a picture of the mistakes and a report that opens offline.

    Example: hinged demo --messages 2000 --seed 1 --out my-demo
    """
    from hinged import Classifier
    from hinged.evaluate.plots import plot_mistakes, require_matplotlib
    from hinged.evaluate.report import summarize, write_report
    from hinged.experiments import mail_stream, side_by_side

    require_matplotlib()
    mail = mail_stream(messages, folders, seed)
    out.mkdir(parents=True, exist_ok=True)
    models = {name: Classifier(**settings) for name, settings in LEARNERS.items()}
    with bar() as show:
        _prepare(show)

        def advance(done: int, total: int) -> None:
            show(f"message {done // len(models):,} of {messages:,}", done, total)

        runs = side_by_side(models, mail.X, mail.y, progress=advance)
    title = f"Six learners file {messages:,} messages"
    curves = {run.name: run.progress for run in runs}
    picture = plot_mistakes(curves, out / "mistakes.png", title=title, unit="messages")
    settings, excerpt = _settings(mail, messages, folders, seed), _excerpt(mail, runs)
    page = out / "report.html"
    report = write_report(page, runs, title=title, unit="messages", settings=settings, excerpt=excerpt)
    rows = summarize(runs)
    if as_json:
        stream = {"messages": messages, "folders": folders, "seed": seed, "mislabelled": int(mail.mislabelled.sum())}
        files = {"picture": str(picture), "report": str(report)}
        emit_json({"stream": stream, "learners": rows, "files": files})
        return
    _print(rows, mail, picture, report)


def _prepare(show: Callable[[str, int, int], None]) -> None:
    """Run every learner on a few messages, so that compiling is no part of its time.

    Learners with shared vectors need a loop of their own, which another process compiles beside this one's.
    """
    shared = [name for name, settings in LEARNERS.items() if "sharing" in settings]
    with ProcessPoolExecutor(1, get_context("spawn")) as beside:
        others = [beside.submit(_try_beside, name) for name in shared]
        for i, name in enumerate(sorted(LEARNERS, key=lambda name: name in shared)):
            show(f"preparing {name} (a first run compiles)", i, len(LEARNERS))
            if name in shared:
                others.pop(0).result()
            _try(name)


def _try(name: str) -> None:
    from hinged import Classifier
    from hinged.evaluate import progressive
    from hinged.experiments import mail_stream

    mail = mail_stream(50, 5)
    progressive(Classifier(**LEARNERS[name]), mail.X, mail.y)


def _try_beside(name: str) -> None:
    from hinged.compiling.notice import quiet

    with quiet():  # the other process tells what is going on
        _try(name)


def _settings(mail: MailStream, messages: int, folders: int, seed: int) -> dict[str, str]:
    return {
        "Stream": f"{messages:,} generated messages in {folders} folders, {int(mail.mislabelled.sum()):,} of them "
        f"mislabelled; {len(mail.words):,} features, {mail.X.nnz / messages:.0f} in a message",
        "Meaning": "The stream is made to be fairly hard; it illustrates learners and does not rank them on real mail",
        "Repeat by": f"hinged demo --messages {messages} --folders {folders} --seed {seed}",
    }


def _excerpt(mail: MailStream, runs: list[Run]) -> list[dict[str, str]]:
    """Show eight messages of the second half, and where the best learner ranked their folder."""
    best = min(runs, key=lambda run: run.progress.rate)
    middle = len(mail) // 2
    return [
        {
            "Message": f"{i + 1:,}",
            "Subject": mail.subjects[i],
            "From": mail.senders[i],
            "Filed in": str(mail.y[i]) + (" (mislabelled)" if mail.mislabelled[i] else ""),
            f"Rank by {best.name}": str(int(best.progress.ranks[i]) or "new"),
        }
        for i in range(middle, min(middle + 8, len(mail)))
    ]


def _print(rows: list[dict[str, Any]], mail: MailStream, picture: Path, report: Path) -> None:
    say(
        f"\n{len(mail):,} messages, {len(set(mail.y.tolist()))} folders that appear over time, "
        f"{int(mail.mislabelled.sum()):,} mislabelled\n"
    )
    width, n = shutil.get_terminal_size((120, 24)).columns, len(COLUMNS)
    while n > 2 and max(map(len, _table(rows, n))) > width:
        n -= 1
    first, *lines = _table(rows, n)
    best = min(range(len(rows)), key=lambda i: rows[i]["rate"])
    say(dim(first))
    for i, line in enumerate(lines):
        say(bold(line) if i == best else line)
    if n < len(COLUMNS):
        say(f"\nThis terminal is too narrow for {', '.join(COLUMNS[n:])}; the report has them.")
    say(f"\nPicture  {picture}\nReport   {report}\n\nNext, in Python:\n")
    say("\n".join(f"    {line}" for line in NEXT.splitlines()))
    say(f"\n{YOURS}")


def _table(rows: list[dict[str, Any]], n_columns: int) -> list[str]:
    """The first columns as aligned lines, the heading first."""
    cells = (
        (
            row["learner"],
            f"{row['mistakes']:,}",
            f"{100 * row['rate']:.1f}",
            f"{100 * row['top3']:.1f}",
            f"{row['updates']:,}",
            f"{row['seconds']:.3f}",
            "–" if row["certificate"] is None else f"{row['certificate']:,.1f}",
        )
        for row in rows
    )
    return rows_of([COLUMNS[:n_columns], *(row[:n_columns] for row in cells)])
